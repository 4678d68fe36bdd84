#include "fovea/cli/image/texts.h"

#include <fmt/format.h>

#include <algorithm>

#include "fovea/cli/table.h"

namespace fovea {
namespace {

constexpr int kNumberColumns = 34;  // of the three numbers
constexpr int kNarrowestText = 12;

std::string meaning(const SimilarityFacts& facts, size_t texts) {
  if (facts.sigmoid) {
    return "probability: the sigmoid of the logit, for each text by itself";
  }
  return texts == 1 ? "probability: the softmax over the texts, of which there is one; give --text "
                      "again to compare"
                    : fmt::format("probability: the softmax over these {} texts", texts);
}

}  // namespace

std::string similarities_text(const SimilarityFacts& facts,
                              std::vector<TextSimilarity> similarities, const Terminal& terminal) {
  std::ranges::stable_sort(similarities, std::ranges::greater(), &TextSimilarity::logit);
  Grid grid{.heading = {"text", "probability", "cosine", "logit"},
            .widest_label = std::max(kNarrowestText, terminal.width - kNumberColumns)};
  for (const TextSimilarity& each : similarities) {
    grid.rows.push_back(
        {.label = printable(each.text),
         .cells = {fmt::format("{:.4f}", each.probability), fmt::format("{:.4f}", each.cosine),
                   fmt::format("{:.3f}", each.logit)}});
  }
  return side_by_side({draw_grid(grid, terminal)}, 0, terminal.width) +
         terminal.dim(meaning(facts, similarities.size())) + "\n\n";
}

Json similarities_json(const SimilarityFacts& facts,
                       const std::vector<TextSimilarity>& similarities) {
  Json texts = Json::array();
  for (const TextSimilarity& each : similarities) {
    Json json = Json::object();
    json.set("text", each.text);
    json.set("cosine", each.cosine);
    json.set("logit", each.logit);
    json.set("probability", each.probability);
    texts.push_back(std::move(json));
  }
  Json json = Json::object();
  json.set("scale", facts.scale);
  json.set("bias", facts.bias);
  json.set("probability", facts.sigmoid ? "sigmoid" : "softmax");
  json.set("texts", std::move(texts));
  return json;
}

}  // namespace fovea
