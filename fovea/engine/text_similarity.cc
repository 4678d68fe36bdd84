#include "fovea/engine/text_similarity.h"

#include "fovea/attention/similarity.h"
#include "fovea/attention/softmax.h"
#include "fovea/base/error.h"
#include "fovea/base/team.h"
#include "fovea/explain/target.h"

namespace fovea {
namespace {

std::vector<double> doubles_of(const Tensor& embedding) {
  const std::span<const float> values = embedding.values<float>();
  return {values.begin(), values.end()};
}

}  // namespace

void check_compares_texts(const Engine& engine) {
  if (engine.facts().head == HeadKind::kSimilarity) return;
  fail(
      ErrorKind::kUnsupported, Field{"text"},
      "{} ({}) compares no picture with a text; take a model with a tower for each, CLIP or SigLIP",
      engine.name(), engine.checkpoint().config.model_type());
}

std::vector<TextSimilarity> text_similarities(const Engine& engine, const RunResult& picture,
                                              const std::vector<std::string>& texts) {
  check_compares_texts(engine);
  const SimilarityFacts& facts = *engine.facts().similarity;
  const std::vector<double> image = doubles_of(picture.outputs.image_embeds.tensor);
  std::vector<TextSimilarity> similarities;
  std::vector<double> logits;
  for (const std::string& text : texts) {
    const ModelOutputs outputs =
        run_on_team([&] { return engine.model().forward(engine.encode(text).inputs, {}); });
    TextSimilarity similarity{.text = text};
    similarity.cosine = dot(image, doubles_of(outputs.text_embeds.tensor));
    similarity.logit = facts.scale * similarity.cosine + facts.bias;
    if (!std::isfinite(similarity.logit)) {
      fail(ErrorKind::kBadFile,
           "the similarity to '{}' is {}; it must be finite: check the weights of {}", text,
           similarity.logit, engine.name());
    }
    similarity.probability = sigmoid(similarity.logit);
    logits.push_back(similarity.logit);
    similarities.push_back(std::move(similarity));
  }
  if (!facts.sigmoid) {
    const std::vector<double> shares = softmax(logits);
    for (size_t i = 0; i < shares.size(); ++i) similarities[i].probability = shares[i];
  }
  return similarities;
}

}  // namespace fovea
