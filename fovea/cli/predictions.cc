#include "fovea/cli/predictions.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/cli/draw/text.h"
#include "fovea/engine/classes.h"
#include "fovea/explain/target.h"

namespace fovea {
namespace {

constexpr size_t kShown = 5;
constexpr int kPredictionNameWidth = 8;

struct Choice {
  int64_t index = 0;
  double probability = 0;
};

std::vector<Choice> best_words(std::span<const float> logits) {
  if (!std::ranges::all_of(logits, [](float logit) { return std::isfinite(logit); })) {
    fail(ErrorKind::kBadFile, "the model's scores are not all finite; its weights are damaged");
  }
  std::vector<Choice> choices;
  for (const double probability : probabilities(logits)) {
    choices.push_back({static_cast<int64_t>(choices.size()), probability});
  }
  const size_t shown = std::min(kShown, choices.size());
  std::partial_sort(choices.begin(), choices.begin() + static_cast<std::ptrdiff_t>(shown),
                    choices.end(), [](const Choice& a, const Choice& b) {
                      return a.probability != b.probability ? a.probability > b.probability
                                                            : a.index < b.index;
                    });
  choices.resize(shown);
  return choices;
}

// Of a model whose classes do not exclude each other: those with a probability above one half, at
// least the best.
std::vector<Choice> present_of(std::span<const float> logits) {
  std::vector<Choice> choices;
  for (size_t i = 0; i < logits.size(); ++i) {
    choices.push_back({static_cast<int64_t>(i), sigmoid(double{logits[i]})});
  }
  std::ranges::stable_sort(choices, std::ranges::greater(), &Choice::probability);
  const auto present =
      std::ranges::count_if(choices, [](const Choice& choice) { return choice.probability > 0.5; });
  choices.resize(static_cast<size_t>(std::max<std::ptrdiff_t>(present, 1)));
  return choices;
}

// Behind the name of its line, as wide as the terminal.
std::string listed(const std::vector<Choice>& choices,
                   const std::function<std::string(int64_t)>& name, const Terminal& terminal) {
  std::string text;
  for (const Choice& choice : choices) {
    if (!text.empty()) text += " · ";
    text += fmt::format("{} {:.3f}", isolated(printable(name(choice.index))), choice.probability);
  }
  std::string lines;
  for (const char letter : wrapped(text, terminal.width - kPredictionNameWidth)) {
    lines += letter;
    if (letter == '\n') lines += repeated(" ", kPredictionNameWidth);
  }
  return lines;
}

// The places of mask tokens.
std::vector<size_t> mask_places(const Engine& engine, const ModelInputs& inputs) {
  std::vector<size_t> places;
  const Tokenizer* tokenizer = engine.find_tokenizer();
  const auto mask = tokenizer == nullptr ? std::nullopt : tokenizer->role("mask_token");
  for (size_t i = 0; mask && i < inputs.input_ids.size(); ++i) {
    if (inputs.input_ids[i] == *mask) places.push_back(i);
  }
  return places;
}

std::string line(std::string_view name, const std::string& value, const Terminal& terminal) {
  return fmt::format("{}{}\n", terminal.dim(padded_right(name, kPredictionNameWidth)), value);
}

std::vector<Choice> class_choices(const Engine& engine, std::span<const float> logits) {
  return engine.multi_label() ? present_of(logits) : best_words(logits);
}

std::string class_text(const Engine& engine, const RunResult& result, const Terminal& terminal) {
  const Tensor& logits = result.outputs.logits.tensor;
  if (logits.elements() < 2) {  // a regression
    return line("score", fmt::format("{:.4f}", logits.values<float>()[0]), terminal);
  }
  const std::vector<std::string> labels = engine.labels();
  return line(engine.multi_label() ? "classes" : "class",
              listed(
                  class_choices(engine, logits.values<float>()),
                  [&](int64_t index) { return class_name(labels, index); }, terminal),
              terminal);
}

std::string masks_text(const Engine& engine, const RunResult& result, const Terminal& terminal) {
  std::string text;
  for (const size_t place : mask_places(engine, result.inputs)) {
    const MatrixView<const float> logits = result.outputs.logits.tensor.matrix<float>();
    const std::span<const float> row(logits.data + static_cast<int64_t>(place) * logits.cols,
                                     static_cast<size_t>(logits.cols));
    text += line(
        fmt::format("mask {}", place),
        listed(
            best_words(row),
            [&](int64_t id) { return engine.tokenizer().info(static_cast<int32_t>(id)).display; },
            terminal),
        terminal);
  }
  return text;
}

std::string written_text(const Engine& engine, const RunResult& result, const Terminal& terminal) {
  const Tokenizer* tokenizer = engine.find_tokenizer();
  if (tokenizer == nullptr) return "";
  const auto decode = [&](std::span<const int64_t> ids) {
    return tokenizer->decode(std::vector<int32_t>(ids.begin(), ids.end()));
  };
  std::vector<int64_t> ids = result.inputs.input_ids;
  const std::string prompt = decode(std::span(ids).first(ids.size() + 1 - result.generated.size()));
  ids.push_back(result.generated.back());
  const std::string whole = decode(ids);
  // A decoder may join words across the border; what was written begins where both differ.
  const size_t border =
      static_cast<size_t>(std::ranges::mismatch(whole, prompt).in1 - whole.begin());
  return line("text",
              isolated(printable(whole.substr(0, border))) +
                  terminal.bold(isolated(printable(whole.substr(border)))),
              terminal);
}

}  // namespace

LogitRows logits_wanted(const Engine& engine, const EncodedInput& input) {
  const HeadKind head = engine.facts().head;
  if (head == HeadKind::kSequenceClass) return LogitRows::kAll;
  const bool masked = head == HeadKind::kMaskedLm && !mask_places(engine, input.inputs).empty();
  return masked ? LogitRows::kAll : LogitRows::kNone;
}

std::string predictions_text(const Engine& engine, const RunResult& result,
                             const Terminal& terminal) {
  if (!result.generated.empty()) return written_text(engine, result, terminal);
  if (result.outputs.logits.tensor.empty()) return "";
  const HeadKind head = engine.facts().head;
  if (head == HeadKind::kSequenceClass || head == HeadKind::kPictureClass) {
    return class_text(engine, result, terminal);
  }
  return masks_text(engine, result, terminal);
}

Json classes_json(const Engine& engine, const RunResult& result) {
  const Tensor& logits = result.outputs.logits.tensor;
  Json classes = Json::array();
  if (logits.elements() < 2) return classes;
  const std::vector<std::string> labels = engine.labels();
  for (const Choice& choice : class_choices(engine, logits.values<float>())) {
    Json one = Json::object();
    one.set("index", choice.index);
    one.set("label", class_name(labels, choice.index));
    one.set("probability", choice.probability);
    classes.push_back(std::move(one));
  }
  return classes;
}

}  // namespace fovea
