#include "fovea/cli/predictions.h"

#include <fmt/format.h>

#include <algorithm>

#include "fovea/ask/picture_answer.h"
#include "fovea/cli/draw/text.h"

namespace fovea {
namespace {

constexpr int kPredictionNameWidth = 8;

// Behind the name of its line, as wide as the terminal.
std::string listed(const std::vector<Candidate>& candidates, const Terminal& terminal) {
  std::string text;
  for (const Candidate& each : candidates) {
    if (!text.empty()) text += " · ";
    text += fmt::format("{} {:.3f}", isolated(printable(each.name)), each.probability);
  }
  std::string lines;
  for (const char letter : wrapped(text, terminal.width - kPredictionNameWidth)) {
    lines += letter;
    if (letter == '\n') lines += repeated(" ", kPredictionNameWidth);
  }
  return lines;
}

std::string line(std::string_view name, const std::string& value, const Terminal& terminal) {
  return fmt::format("{}{}\n", terminal.dim(padded_right(name, kPredictionNameWidth)), value);
}

std::string artifacts_line(const Artifacts& artifacts, const Terminal& terminal) {
  const std::string name = terminal.dim("artifacts ");
  if (artifacts.count() == 0) {
    return fmt::format("{}none: no patch has an outlying norm (all below {:.1f})\n", name,
                       artifacts.cut);
  }
  return fmt::format("{}{} of {} patches ({:.1f} %) have outlying norms, above {:.1f}\n", name,
                     artifacts.count(), artifacts.norms.size(), 100 * artifacts.share(),
                     artifacts.cut);
}

std::string probability_meaning(bool sigmoid, size_t texts) {
  if (sigmoid) return "probability: the sigmoid of the logit, for each text by itself";
  return texts == 1 ? "probability: the softmax over the texts, of which there is one; give --text "
                      "again to compare"
                    : fmt::format("probability: the softmax over these {} texts", texts);
}

std::string translation_text(const Translation& translation, const Terminal& terminal) {
  const std::string& source = translation.result.run.find_axis("source")->source;
  std::string how = translation.forced       ? "as given"
                    : translation.beams == 1 ? "greedy search"
                                             : fmt::format("{} beams", translation.beams);
  if (translation.score) how += fmt::format(", score {:.3f}", *translation.score);
  if (!translation.complete) how += ", cut at the limit of tokens";
  return isolated(printable(source)) + "\n" + terminal.dim("→ ") +
         isolated(printable(translation.target)) + "  " + terminal.dim("(" + how + ")") + "\n\n";
}

}  // namespace

std::string predictions_text(const Engine& engine, const RunResult& result,
                             const Terminal& terminal) {
  const Predictions predictions = predictions_of(engine, result);
  std::string text;
  if (predictions.score) {
    text += line("score", fmt::format("{:.4f}", *predictions.score), terminal);
  }
  if (!predictions.classes.empty()) {
    text += line(predictions.multi_label ? "classes" : "class",
                 listed(predictions.classes, terminal), terminal);
  }
  for (const Predictions::Mask& mask : predictions.masks) {
    text += line(fmt::format("mask {}", mask.position), listed(mask.words, terminal), terminal);
  }
  if (!predictions.prompt.empty() || !predictions.written.empty()) {
    text += line("text",
                 isolated(printable(predictions.prompt)) +
                     terminal.bold(isolated(printable(predictions.written))),
                 terminal);
  }
  return text;
}

std::string outputs_text(const FinishedRun& run, const Terminal& terminal) {
  if (run.is_translation()) return translation_text(run.translation, terminal);
  if (run.engine() == nullptr) return "";
  std::string text = predictions_text(*run.engine(), run.result(), terminal);
  if (const auto artifacts = artifacts_of(run)) text += artifacts_line(*artifacts, terminal);
  return text;
}

TableFigure similarities_table(const Json& similarity) {
  constexpr std::string_view kOf = "a similarity";
  Json::Array texts = similarity.at("texts", kOf).as_array(kOf);
  const auto number = [&](const Json& text, std::string_view name) {
    return text.at(name, kOf).as_double(kOf);
  };
  std::ranges::stable_sort(texts, std::ranges::greater(),
                           [&](const Json& text) { return number(text, "logit"); });
  TableFigure table{.label_name = "text",
                    .columns = {{.name = "probability"}, {.name = "cosine"}, {.name = "logit"}}};
  table.text.caption = probability_meaning(
      similarity.at("probability", kOf).as_string(kOf) == "sigmoid", texts.size());
  for (const Json& text : texts) {
    table.rows.push_back({.label = text.at("text", kOf).as_string(kOf),
                          .cells = {{.text = fmt::format("{:.4f}", number(text, "probability"))},
                                    {.text = fmt::format("{:.4f}", number(text, "cosine"))},
                                    {.text = fmt::format("{:.3f}", number(text, "logit"))}}});
  }
  return table;
}

TableFigure found_table(const DetectedObjects& found) {
  if (!found.objects().empty()) return objects_table(found.scene());
  const auto all = found_objects(found.engine(), found.result(), found.picture(), -1);
  TableFigure table;
  table.text.title =
      fmt::format("no object: of {} queries {} is best with {:.2f}, below {:g}", all.size(),
                  all.front().name, all.front().score, found.threshold());
  table.text.caption = "try a lower --threshold; what follows is attention without objects";
  return table;
}

}  // namespace fovea
