#include "fovea/ask/outcomes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>

#include "fovea/ask/detection_answer.h"
#include "fovea/ask/picture_results.h"
#include "fovea/ask/predictions.h"
#include "fovea/capture/words.h"
#include "fovea/engine/classes.h"
#include "fovea/engine/engine_subject.h"
#include "fovea/explain/target.h"

namespace fovea {
namespace {

constexpr size_t kMostStates = 8;

using OutcomeName = std::function<std::string(int64_t)>;

// The two runs of one model that are compared.
struct Pair {
  const Engine& engine;
  const FinishedRun& before;
  const FinishedRun& after;

  MatrixView<const float> logits(const FinishedRun& run) const {
    const Tensor& logits = run.result().outputs.logits.tensor;
    return logits.rank() == 2 ? logits.matrix<float>()
                              : MatrixView<const float>{logits.values<float>().data(), 1,
                                                        logits.elements(), logits.elements()};
  }
};

std::span<const float> row_of(const MatrixView<const float>& logits, int64_t row) {
  return finite_scores({logits.row(row), static_cast<size_t>(logits.cols)});
}

std::vector<double> shares(std::span<const float> logits, bool each_by_itself) {
  if (!each_by_itself) return probabilities(logits);
  std::vector<double> all;
  for (const float logit : logits) all.push_back(sigmoid(double{logit}));
  return all;
}

// The best before, then those of the best after that are not among them.
std::vector<Outcome> best_outcomes(std::span<const float> before, std::span<const float> after,
                                   bool each_by_itself, const OutcomeName& name) {
  const std::vector<double> was = shares(before, each_by_itself);
  const std::vector<double> is = shares(after, each_by_itself);
  std::vector<int64_t> chosen = best_indices(was);
  for (const int64_t index : best_indices(is)) {
    if (std::ranges::count(chosen, index) == 0) chosen.push_back(index);
  }
  std::vector<Outcome> rows;
  for (const int64_t index : chosen) {
    const auto i = static_cast<size_t>(index);
    rows.push_back({.label = name(index), .index = index, .before = was[i], .after = is[i]});
  }
  return rows;
}

OutcomeName word_names(const Engine& engine) {
  const Tokenizer* tokenizer =
      engine.facts().has_decoder() ? engine.find_target_tokenizer() : engine.find_tokenizer();
  if (tokenizer == nullptr) {
    return [](int64_t id) { return fmt::format("token {}", id); };
  }
  return [tokenizer](int64_t id) { return tokenizer->info(static_cast<int32_t>(id)).display; };
}

OutcomeName class_names(const Engine& engine) {
  return [labels = engine.labels()](int64_t index) { return class_name(labels, index); };
}

OutcomeGroup next_words(const Pair& pair) {
  const MatrixView<const float> was = pair.logits(pair.before), is = pair.logits(pair.after);
  return {.of = "next word",
          .measure = "probability",
          .rows = best_outcomes(row_of(was, was.rows - 1), row_of(is, is.rows - 1), false,
                                word_names(pair.engine))};
}

// The words of the target as it is, each after the same words.
OutcomeGroup target_words(const Pair& pair) {
  OutcomeGroup group{.of = "written word", .measure = "probability"};
  const RunResult& result = pair.before.result();
  const std::vector<int64_t>& ids = result.inputs.decoder_input_ids;
  const Axis& target = *result.run.find_axis("target");
  const MatrixView<const float> was = pair.logits(pair.before), is = pair.logits(pair.after);
  for (size_t i = 0; i + 1 < ids.size(); ++i) {
    if (target.positions[i + 1].special) continue;
    const auto step = static_cast<int64_t>(i);
    const auto share = [&](const MatrixView<const float>& logits) {
      return probabilities(row_of(logits, step))[static_cast<size_t>(ids[i + 1])];
    };
    group.rows.push_back({.label = target.positions[i + 1].text,
                          .index = ids[i + 1],
                          .before = share(was),
                          .after = share(is)});
  }
  return group;
}

OutcomeGroup classes(const Pair& pair) {
  const MatrixView<const float> was = pair.logits(pair.before), is = pair.logits(pair.after);
  if (was.cols < 2) {
    return {.of = "score",
            .measure = "score",
            .rows = {{.label = "the whole input",
                      .before = double{row_of(was, 0)[0]},
                      .after = double{row_of(is, 0)[0]}}}};
  }
  return {.of = "class",
          .measure = "probability",
          .rows = best_outcomes(row_of(was, 0), row_of(is, 0), pair.engine.multi_label(),
                                class_names(pair.engine))};
}

// Compares, for each token, the probability of the class that it had.
OutcomeGroup token_classes(const Pair& pair) {
  OutcomeGroup group{.of = "token", .measure = "probability of its class"};
  const MatrixView<const float> was = pair.logits(pair.before), is = pair.logits(pair.after);
  const Axis& axis = pair.before.run().axes.front();
  const OutcomeName name = class_names(pair.engine);
  const std::vector<std::string> labels = numbered_labels(axis);
  for (int64_t i = 0; i < was.rows; ++i) {
    if (axis.positions[static_cast<size_t>(i)].special) continue;
    const std::vector<double> before = probabilities(row_of(was, i));
    const std::vector<double> after = probabilities(row_of(is, i));
    const int64_t had = best_indices(before, 1).front();
    const int64_t has = best_indices(after, 1).front();
    group.rows.push_back({.label = labels[static_cast<size_t>(i)] + ": " + name(had),
                          .index = had,
                          .before = before[static_cast<size_t>(had)],
                          .after = after[static_cast<size_t>(had)],
                          .note = had == has ? "" : "now " + name(has)});
  }
  return group;
}

OutcomeGroup found(const Pair& pair, double threshold) {
  OutcomeGroup group{.of = "objects", .measure = "score"};
  const PictureSize size = pair.before.opened->picture->picture.size();
  // Every query has a box and a class; the threshold chooses which are told.
  const auto all = [&](const FinishedRun& run) {
    auto objects = found_objects(pair.engine, run.result(), size, -1);
    std::ranges::sort(objects, {}, &DetectedObject::query);
    return objects;
  };
  const std::vector<DetectedObject> was = all(pair.before), is = all(pair.after);
  for (size_t q = 0; q < was.size(); ++q) {
    if (was[q].score <= threshold && is[q].score <= threshold) continue;
    const bool is_new = was[q].score <= threshold;
    const DetectedObject& told = is_new ? is[q] : was[q];
    const auto share = [&](const FinishedRun& run) {
      return probabilities(row_of(pair.logits(run), told.query))[static_cast<size_t>(told.label)];
    };
    std::string note = is_new ? "new" : is[q].score <= threshold ? "gone" : "";
    if (!is_new && is[q].score > threshold && is[q].label != was[q].label) {
      note = "now " + is[q].name;
    }
    group.rows.push_back({.label = told.name,
                          .index = told.query,
                          .before = share(pair.before),
                          .after = share(pair.after),
                          .note = note,
                          .more = Json::object({{"query", told.query},
                                                {"box_before", box_json(was[q].box)},
                                                {"box_after", box_json(is[q].box)}})});
  }
  std::ranges::stable_sort(group.rows, std::ranges::greater{}, &Outcome::before);
  return group;
}

// For a model that gives states but no answer: how similar the states are, as a whole and where
// they changed most.
std::vector<OutcomeGroup> states(const Pair& pair) {
  std::vector<OutcomeGroup> groups;
  const Tensor was = embedding_of(pair.engine, pair.before.result());
  const Tensor is = embedding_of(pair.engine, pair.after.result());
  const std::string measure = "cosine with what it was";
  if (!was.empty()) {
    groups.push_back({.of = "embedding",
                      .measure = measure,
                      .rows = {{.label = "the whole input",
                                .before = cosine(was.values<float>(), was.values<float>()),
                                .after = cosine(was.values<float>(), is.values<float>())}}});
  }
  const Tensor& before = pair.before.result().outputs.last_hidden_state.tensor;
  const Tensor& after = pair.after.result().outputs.last_hidden_state.tensor;
  const Axis& axis = pair.before.run().axes.front();
  if (before.rank() != 2 || before.size(0) != std::ssize(axis.positions)) return groups;
  OutcomeGroup group{.of = "position", .measure = measure};
  const std::vector<std::string> labels = numbered_labels(axis);
  for (int64_t i = 0; i < before.size(0); ++i) {
    const std::span<const float> own = row_of(before.matrix<float>(), i);
    group.rows.push_back({.label = labels[static_cast<size_t>(i)],
                          .index = i,
                          .before = cosine(own, own),
                          .after = cosine(own, row_of(after.matrix<float>(), i))});
  }
  std::ranges::stable_sort(group.rows, {}, &Outcome::after);
  if (group.rows.size() > kMostStates) group.rows.resize(kMostStates);
  groups.push_back(std::move(group));
  return groups;
}

std::vector<OutcomeGroup> masked_words(const Pair& pair) {
  std::vector<OutcomeGroup> groups;
  for (const Predictions::Mask& mask : predictions_of(pair.engine, pair.before.result()).masks) {
    groups.push_back({.of = fmt::format("mask {}", mask.position),
                      .measure = "probability",
                      .rows = best_outcomes(row_of(pair.logits(pair.before), mask.position),
                                            row_of(pair.logits(pair.after), mask.position), false,
                                            word_names(pair.engine))});
  }
  return groups;
}

}  // namespace

RunNeeds outcome_needs(const ModelFacts& facts) {
  if (facts.head == HeadKind::kCausalLm) return {.last_logits = true};
  return {.all_logits = true};
}

std::vector<OutcomeGroup> outcomes(const FinishedRun& before, const FinishedRun& after,
                                   double threshold) {
  const Pair pair{before.opened->engine, before, after};
  if (before.result().outputs.logits.tensor.empty()) return states(pair);
  switch (pair.engine.facts().head) {
    case HeadKind::kCausalLm:
      return {next_words(pair)};
    case HeadKind::kTargetWords:
      return {target_words(pair)};
    case HeadKind::kSequenceClass:
    case HeadKind::kPictureClass:
      return {classes(pair)};
    case HeadKind::kTokenClass:
      return {token_classes(pair)};
    case HeadKind::kObjects:
      if (before.opened->picture) return {found(pair, threshold)};
      return states(pair);
    case HeadKind::kMaskedLm:
      if (auto groups = masked_words(pair); !groups.empty()) return groups;
      return states(pair);
    default:
      return states(pair);
  }
}

namespace {

std::string signed_change(double change) {
  const std::string text = fmt::format("{:+.3f}", change);
  return text.substr(1) == "0.000" ? "0.000" : text;
}

}  // namespace

TableFigure outcome_table(const std::vector<OutcomeGroup>& groups) {
  TableFigure table{.columns = {{.name = "before"}, {.name = "after"}, {.name = "change"}}};
  const bool noted = std::ranges::any_of(groups, [](const OutcomeGroup& group) {
    return std::ranges::any_of(group.rows, [](const Outcome& row) { return !row.note.empty(); });
  });
  if (noted) table.columns.push_back({.name = "", .words = true});
  double most = 0;  // one scale for all that is a share
  for (const OutcomeGroup& group : groups) {
    for (const Outcome& row : group.rows) {
      most = std::max({most, std::abs(row.before), std::abs(row.after)});
    }
  }
  for (const OutcomeGroup& group : groups) {
    for (const Outcome& row : group.rows) {
      const auto bar = [&](double value) {
        return std::optional(most > 0 ? std::max(value, 0.0) / most : 0);
      };
      TableRow told{.label = row.label,
                    .cells = {{.text = fmt::format("{:.3f}", row.before), .share = bar(row.before)},
                              {.text = fmt::format("{:.3f}", row.after), .share = bar(row.after)},
                              {.text = signed_change(row.after - row.before)}}};
      if (noted) told.cells.push_back({.text = row.note});
      if (&row == &group.rows.front()) {
        told.group =
            group.of == group.measure ? group.of : fmt::format("{}, {}", group.of, group.measure);
      }
      table.rows.push_back(std::move(told));
    }
    if (group.rows.empty()) {
      table.rows.push_back({.label = "none", .group = group.of});
    }
  }
  return table;
}

Json to_json(const std::vector<OutcomeGroup>& groups) {
  Json all = Json::array();
  for (const OutcomeGroup& group : groups) {
    Json rows = Json::array();
    for (const Outcome& row : group.rows) {
      Json json = Json::object({{"label", row.label}});
      json.set("index", row.index ? Json(*row.index) : Json());
      json.set("before", row.before);
      json.set("after", row.after);
      if (!row.note.empty()) json.set("note", row.note);
      for (const auto& [name, value] : row.more.as_object("an outcome")) json.set(name, value);
      rows.push_back(std::move(json));
    }
    Json told = Json::object({{"of", group.of}, {"measure", group.measure}});
    told.set("rows", std::move(rows));
    all.push_back(std::move(told));
  }
  return all;
}

}  // namespace fovea
