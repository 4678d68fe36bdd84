#include "fovea/ask/predictions.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "fovea/ask/picture_answer.h"
#include "fovea/base/error.h"
#include "fovea/engine/classes.h"
#include "fovea/explain/target.h"

namespace fovea {
namespace {

using NameOf = std::function<std::string(int64_t)>;

std::vector<Candidate> candidates_of(const std::vector<double>& probabilities, const NameOf& name,
                                     size_t most) {
  std::vector<Candidate> candidates;
  for (const int64_t index : best_indices(probabilities, most)) {
    candidates.push_back({index, name(index), probabilities[static_cast<size_t>(index)]});
  }
  return candidates;
}

std::vector<Candidate> best_candidates(std::span<const float> logits, const NameOf& name) {
  return candidates_of(probabilities(finite_scores(logits)), name, kMostCandidates);
}

// The classes of a model where several may hold: those with a probability above one half, but at
// least the best.
std::vector<Candidate> present_of(std::span<const float> logits, const NameOf& name) {
  std::vector<double> each;
  for (const float logit : finite_scores(logits)) each.push_back(sigmoid(double{logit}));
  const auto present = std::ranges::count_if(each, [](double share) { return share > 0.5; });
  return candidates_of(each, name, static_cast<size_t>(std::max<std::ptrdiff_t>(present, 1)));
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

void add_classes(Predictions& predictions, const Engine& engine, const Tensor& logits) {
  if (logits.elements() < 2) {
    predictions.score = double{logits.values<float>()[0]};
    return;
  }
  const std::vector<std::string> labels = engine.labels();
  const NameOf name = [&](int64_t index) { return class_name(labels, index); };
  predictions.multi_label = engine.multi_label();
  predictions.classes = predictions.multi_label ? present_of(logits.values<float>(), name)
                                                : best_candidates(logits.values<float>(), name);
}

void add_masks(Predictions& predictions, const Engine& engine, const RunResult& result) {
  for (const size_t place : mask_places(engine, result.inputs)) {
    const MatrixView<const float> logits = result.outputs.logits.tensor.matrix<float>();
    const std::span<const float> row(logits.data + static_cast<int64_t>(place) * logits.cols,
                                     static_cast<size_t>(logits.cols));
    const NameOf name = [&](int64_t id) {
      return engine.tokenizer().info(static_cast<int32_t>(id)).display;
    };
    predictions.masks.push_back({static_cast<int64_t>(place), best_candidates(row, name)});
  }
}

void add_written(Predictions& predictions, const Engine& engine, const RunResult& result) {
  const Tokenizer* tokenizer = engine.find_tokenizer();
  if (tokenizer == nullptr) return;
  const auto decode = [&](std::span<const int64_t> ids) {
    return tokenizer->decode(std::vector<int32_t>(ids.begin(), ids.end()));
  };
  std::vector<int64_t> ids = result.inputs.input_ids;
  const std::string prompt = decode(std::span(ids).first(ids.size() + 1 - result.generated.size()));
  ids.push_back(result.generated.back());
  const std::string all = decode(ids);
  // A decoder may join words across the border; what was written begins where both differ.
  const auto border = static_cast<size_t>(std::ranges::mismatch(all, prompt).in1 - all.begin());
  predictions.prompt = all.substr(0, border);
  predictions.written = all.substr(border);
  for (size_t i = 0; i < result.generated_probabilities.size(); ++i) {
    predictions.written_tokens.push_back(
        {result.generated[i], tokenizer->info(static_cast<int32_t>(result.generated[i])).display,
         result.generated_probabilities[i]});
  }
}

}  // namespace

std::span<const float> finite_scores(std::span<const float> scores) {
  if (std::ranges::all_of(scores, [](float score) { return std::isfinite(score); })) return scores;
  fail(ErrorKind::kBadFile, "the model's scores are not all finite; its weights are damaged");
}

std::vector<int64_t> best_indices(const std::vector<double>& probabilities, size_t most) {
  std::vector<int64_t> order(probabilities.size());
  std::iota(order.begin(), order.end(), 0);
  const auto share = [&](int64_t i) { return probabilities[static_cast<size_t>(i)]; };
  const size_t count = std::min(most, order.size());
  std::partial_sort(
      order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
      [&](int64_t a, int64_t b) { return share(a) != share(b) ? share(a) > share(b) : a < b; });
  order.resize(count);
  return order;
}

bool logits_wanted(const Engine& engine, const EncodedInput& input) {
  const HeadKind head = engine.facts().head;
  if (head == HeadKind::kSequenceClass || head == HeadKind::kPictureClass) return true;
  return head == HeadKind::kMaskedLm && !mask_places(engine, input.inputs).empty();
}

Predictions predictions_of(const Engine& engine, const RunResult& result) {
  Predictions predictions;
  const HeadKind head = engine.facts().head;
  const Tensor& logits = result.outputs.logits.tensor;
  if (!result.generated.empty()) {
    add_written(predictions, engine, result);
  } else if (!logits.empty() &&
             (head == HeadKind::kSequenceClass || head == HeadKind::kPictureClass)) {
    add_classes(predictions, engine, logits);
  } else if (!logits.empty()) {
    add_masks(predictions, engine, result);
  }
  return predictions;
}

Json to_json(const std::vector<Candidate>& candidates) {
  Json list = Json::array();
  for (const Candidate& each : candidates) {
    list.push_back(Json::object(
        {{"index", each.index}, {"label", each.name}, {"probability", each.probability}}));
  }
  return list;
}

Json output_facts(const FinishedRun& run) {
  Json json = Json::object();
  if (run.is_translation()) {
    const Translation& translation = run.translation;
    json = Json::object({{"target", translation.target},
                         {"forced", translation.forced},
                         {"complete", translation.complete},
                         {"beams", translation.beams}});
    if (translation.score) json.set("search_score", *translation.score);
    return json;
  }
  if (!run.opened) return json;
  const Predictions predictions = predictions_of(run.opened->engine, run.result());
  if (predictions.score) json.set("score", *predictions.score);
  if (!predictions.classes.empty()) json.set("classes", to_json(predictions.classes));
  if (!predictions.masks.empty()) {
    Json masks = Json::array();
    for (const Predictions::Mask& mask : predictions.masks) {
      masks.push_back(Json::object({{"position", mask.position}, {"words", to_json(mask.words)}}));
    }
    json.set("masks", std::move(masks));
  }
  if (!predictions.written.empty()) {
    json.set("prompt", predictions.prompt);
    json.set("written", predictions.written);
    json.set("written_tokens", to_json(predictions.written_tokens));
  }
  if (const auto artifacts = artifacts_of(run)) json.set("artifacts", to_json(*artifacts));
  return json;
}

}  // namespace fovea
