#include "fovea/ask/many/picture_scores.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "fovea/ask/places.h"
#include "fovea/figure/picture_view.h"

namespace fovea {
namespace {

constexpr size_t kBeforeScores = 2;  // objects and layer

// "random weights" is "random_weights" in files.
std::string column_key(std::string text) {
  std::ranges::replace(text, ' ', '_');
  return text;
}

Json scores_json(const ScoreReport& report, const std::vector<double>& scores) {
  Json json = Json::object();
  for (size_t row = 0; row < report.rows.size(); ++row) {
    json.set(report.rows[row].key, scores[row]);
  }
  return json;
}

// The model's own scores are "scores"; those beside it have the name of their column.
std::string member_of(const ScoreReport& report, size_t model) {
  return model == 0 ? "scores" : column_key(report.columns[model]);
}

// Sets what is counted over all pictures.
void set_scores(Json& json, const ScoreReport& report) {
  json.set("pictures", static_cast<int64_t>(report.pictures.size()));
  json.set("objects", report.objects());
  for (size_t model = 0; model < report.columns.size(); ++model) {
    std::vector<double> means;
    for (size_t row = 0; row < report.rows.size(); ++row) means.push_back(report.mean(model, row));
    json.set(member_of(report, model), scores_json(report, means));
  }
  json.set("notes", Json::array_of(report.notes));
}

Json score_result(const ScoreReport& report) {
  Json json = Json::object({{"measure", report.title}});
  set_scores(json, report);
  Json pictures = Json::array();
  for (const ScoreReport::Picture& picture : report.pictures) {
    Json entry = Json::object({{"picture", picture.name}, {"objects", picture.objects}});
    for (size_t model = 0; model < report.columns.size(); ++model) {
      entry.set(member_of(report, model), scores_json(report, picture.scores[model]));
    }
    pictures.push_back(std::move(entry));
  }
  json.set("per_picture", std::move(pictures));
  return json;
}

Records score_records(const ScoreReport& report) {
  Records records{.columns = {"picture", "objects"}, .rows = {}};
  for (size_t model = 0; model < report.columns.size(); ++model) {
    const std::string before = model == 0 ? "" : column_key(report.columns[model]) + ".";
    for (const ScoreRow& row : report.rows) records.columns.push_back(before + row.key);
  }
  for (const ScoreReport::Picture& picture : report.pictures) {
    std::vector<Json> row{picture.name, picture.objects};
    for (const auto& scores : picture.scores) row.insert(row.end(), scores.begin(), scores.end());
    records.rows.push_back(std::move(row));
  }
  return records;
}

TableFigure score_table(const ScoreReport& report) {
  TableFigure table{.notes = report.notes};
  table.text.metadata = Json::object({{"kind", report.kind},
                                      {"measure", report.title},
                                      {"model", report.model},
                                      {"layer", report.layer}});
  set_scores(table.text.metadata, report);
  table.text.title = fmt::format("{} · {}", report.model, report.title);
  table.text.caption =
      fmt::format("layer {} · {} picture{}, {} objects", report.layer, report.pictures.size(),
                  report.pictures.size() == 1 ? "" : "s", report.objects());
  for (const std::string& column : report.columns) {
    table.columns.push_back({.name = report.columns.size() > 1 ? column : ""});
  }
  for (size_t row = 0; row < report.rows.size(); ++row) {
    const ScoreRow& score = report.rows[row];
    TableRow line{.label = score.label};
    if (row == 0 || score.group != report.rows[row - 1].group) line.group = score.group;
    for (size_t model = 0; model < report.columns.size(); ++model) {
      const double mean = report.mean(model, row);
      line.cells.push_back({.text = fmt::format("{:.3f}", mean)});
      if (model == 0) line.cells.back().share = mean;
    }
    table.rows.push_back(std::move(line));
  }
  return table;
}

std::vector<TrueObject> objects_of_mask(const LabelMask& mask) {
  struct Extent {
    int64_t left = INT64_MAX, top = INT64_MAX, right = 0, bottom = 0;
  };
  std::array<Extent, 256> extents;
  for (int64_t y = 0, i = 0; y < mask.size.height; ++y) {
    for (int64_t x = 0; x < mask.size.width; ++x, ++i) {
      Extent& extent = extents[mask.labels[static_cast<size_t>(i)]];
      extent = {std::min(extent.left, x), std::min(extent.top, y), std::max(extent.right, x + 1),
                std::max(extent.bottom, y + 1)};
    }
  }
  std::vector<TrueObject> objects;
  for (const uint8_t id : mask.objects()) {
    const Extent& extent = extents[id];
    objects.push_back(
        {.id = id,
         .box = {static_cast<double>(extent.left), static_cast<double>(extent.top),
                 static_cast<double>(extent.right), static_cast<double>(extent.bottom)}});
  }
  return objects;
}

class PictureScoreCounter : public Counter {
 public:
  PictureScoreCounter(const ManyAsked& asked, PictureScorer scorer)
      : engines_(scored_engines(asked)),
        layer_(asked.question.place.layer),
        scorer_(std::move(scorer)) {}

  void count(InputQueue& inputs, ManyState& state) override {
    count_one(inputs, state, [&](const InputQueue::Item& item, const Sample& sample) {
      const PictureInput input = picture_of(engines_.front(), sample.input);
      const int64_t objects = scorer_.objects(sample.truth, input.picture.size());
      if (objects == 0) fail(ErrorKind::kInvalidArgument, "no object is in it");
      int64_t layer = 0;
      std::vector<std::vector<double>> scores;
      for (const Engine& engine : engines_) {
        const RunResult result = engine.run(input.input, {.record = {.values = false}});
        layer = picture_record(result.run, layer_)->site.layer;
        scores.push_back(scorer_.scores(input, result.run, sample.truth));
      }
      return [row = ManyState::Row{item.number, item.name, score_numbers(objects, layer, scores)}](
                 ManyState& to) { to.rows.push_back(row); };
    });
  }

 private:
  std::vector<Engine> engines_;
  std::optional<int64_t> layer_;
  PictureScorer scorer_;
};

}  // namespace

double ScoreReport::mean(size_t model_index, size_t row) const {
  double sum = 0;
  for (const Picture& picture : pictures) sum += picture.scores[model_index][row];
  return pictures.empty() ? 0 : sum / static_cast<double>(pictures.size());
}

int64_t ScoreReport::objects() const {
  int64_t count = 0;
  for (const Picture& picture : pictures) count += picture.objects;
  return count;
}

std::vector<double> score_numbers(int64_t objects, int64_t layer,
                                  const std::vector<std::vector<double>>& scores) {
  std::vector<double> numbers{static_cast<double>(objects), static_cast<double>(layer)};
  for (const auto& each : scores) numbers.insert(numbers.end(), each.begin(), each.end());
  return numbers;
}

ScoreReport report_of(const ManyAsked& asked, const ManyState& state) {
  ScoreReport report{.model = asked.engine.name(), .columns = {"trained"}};
  if (asked.question.flag("baseline")) report.columns.push_back("random weights");
  const size_t models = report.columns.size();
  for (const ManyState::Row& row : state.rows) {
    ScoreReport::Picture picture{.name = row.name,
                                 .objects = static_cast<int64_t>(row.numbers.at(0))};
    report.layer = static_cast<int64_t>(row.numbers.at(1));
    const auto each = static_cast<int64_t>((row.numbers.size() - kBeforeScores) / models);
    for (size_t model = 0; model < models; ++model) {
      const auto begin = row.numbers.begin() + kBeforeScores + static_cast<int64_t>(model) * each;
      picture.scores.emplace_back(begin, begin + each);
    }
    report.pictures.push_back(std::move(picture));
  }
  return report;
}

Answer scores_answer(const ScoreReport& report) {
  Answer answer{.figure = score_table(report)};
  answer.records = score_records(report);
  answer.facts = Json::object(
      {{"layer", report.layer}, {"method", "attention"}, {"result", score_result(report)}});
  return answer;
}

std::unique_ptr<Counter> picture_score_counter(const ManyAsked& asked, PictureScorer scorer) {
  return std::make_unique<PictureScoreCounter>(asked, std::move(scorer));
}

std::vector<Engine> scored_engines(const ManyAsked& asked) {
  std::vector<Engine> engines{asked.engine};
  if (asked.question.flag("baseline")) {
    const auto seed = static_cast<uint64_t>(asked.question.number("seed").value_or(0));
    engines.push_back(asked.engine.with_random_weights(seed));
  }
  return engines;
}

const LabelMask& true_mask(const Truth& truth, PictureSize picture) {
  if (!truth.mask) fail(ErrorKind::kBadFile, "there is no true mask beside it");
  if (truth.mask->size != picture) {
    fail(ErrorKind::kBadFile,
         "{} has {} x {} pixels but its picture {} x {}; give a mask of the picture's size",
         truth.mask_name.empty() ? "the mask" : truth.mask_name + ":", truth.mask->size.width,
         truth.mask->size.height, picture.width, picture.height);
  }
  return *truth.mask;
}

std::vector<TrueObject> true_objects(const Truth& truth, PictureSize picture) {
  return truth.objects ? *truth.objects : objects_of_mask(true_mask(truth, picture));
}

std::vector<FieldInfo> baseline_fields() {
  return {{.name = "baseline",
           .help = "beside it the same model with random weights",
           .type = FieldType::kFlag},
          {.name = "seed",
           .shown = "N",
           .help = "the seed of the random weights",
           .type = FieldType::kInteger,
           .low = 0,
           .otherwise = "0",
           .rules = {{.needs = "baseline", .why = "is of random weights"}}}};
}

}  // namespace fovea
