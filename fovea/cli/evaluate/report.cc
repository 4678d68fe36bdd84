#include "fovea/cli/evaluate/report.h"

#include <fmt/format.h>

#include <algorithm>

#include "fovea/cli/map_out.h"
#include "fovea/cli/show.h"

namespace fovea {
namespace {

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

Json report_json(const ScoreReport& report) {
  Json json = Json::object({{"kind", report.kind},
                            {"measure", report.title},
                            {"model", report.model},
                            {"layer", report.layer},
                            {"pictures", static_cast<int64_t>(report.pictures.size())},
                            {"objects", report.objects()}});
  for (size_t model = 0; model < report.columns.size(); ++model) {
    std::vector<double> means;
    for (size_t row = 0; row < report.rows.size(); ++row) means.push_back(report.mean(model, row));
    json.set(member_of(report, model), scores_json(report, means));
  }
  json.set("notes", Json::array_of(report.notes));
  return json;
}

Json report_with_pictures(const ScoreReport& report) {
  Json json = report_json(report);
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

std::string report_csv(const ScoreReport& report) {
  std::string text = "picture,objects";
  for (size_t model = 0; model < report.columns.size(); ++model) {
    const std::string before = model == 0 ? "" : column_key(report.columns[model]) + ".";
    for (const ScoreRow& row : report.rows) text += "," + csv_text(before + row.key);
  }
  text += "\n";
  for (const ScoreReport::Picture& picture : report.pictures) {
    text += fmt::format("{},{}", csv_text(picture.name), picture.objects);
    for (const std::vector<double>& scores : picture.scores) {
      for (const double score : scores) text += fmt::format(",{}", score);
    }
    text += "\n";
  }
  return text;
}

TableFigure report_table(const ScoreReport& report) {
  TableFigure table{.notes = report.notes};
  table.text.metadata = report_json(report);
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

void show_report(const ScoreReport& report, const Args& args) {
  show({.figure = report_table(report),
        .json = [report] { return report_with_pictures(report); },
        .csv = [report] { return report_csv(report); }},
       args);
}

}  // namespace fovea
