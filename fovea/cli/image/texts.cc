#include "fovea/cli/image/texts.h"

#include <fmt/format.h>

#include <algorithm>

#include "fovea/base/utf8.h"
#include "fovea/cli/draw/text.h"
#include "fovea/cli/table.h"

namespace fovea {
namespace {

constexpr int kNumberColumns = 34;  // of the three numbers
constexpr int kNarrowest = 12;

std::string meaning(const ModelFacts& facts, size_t texts) {
  if (facts.similarity_is_sigmoid) {
    return "probability: the sigmoid of the logit, for each text by itself";
  }
  return texts == 1 ? "probability: the softmax over the texts, of which there is one; give --text "
                      "again to compare"
                    : fmt::format("probability: the softmax over these {} texts", texts);
}

}  // namespace

std::string similarities_text(const ModelFacts& facts, std::vector<TextSimilarity> similarities,
                              const Terminal& terminal) {
  std::ranges::stable_sort(similarities, std::ranges::greater(), &TextSimilarity::logit);
  const int room = std::max(kNarrowest, terminal.width - kNumberColumns);
  int widest = 4;
  for (TextSimilarity& each : similarities) {
    each.text = shorten(printable(each.text), room);
    widest = std::max(widest, display_width(each.text));
  }
  const std::string heading = fmt::format("text{}  {:>11}  {:>7}  {:>8}", repeated(" ", widest - 4),
                                          "probability", "cosine", "logit");
  std::string text = terminal.dim(heading) + "\n";
  for (const TextSimilarity& each : similarities) {
    text += fmt::format("{}{}  {:>11.4f}  {:>7.4f}  {:>8.3f}\n", isolated(each.text),
                        repeated(" ", widest - display_width(each.text)), each.probability,
                        each.cosine, each.logit);
  }
  return text + terminal.dim(meaning(facts, similarities.size())) + "\n\n";
}

Json similarities_json(const ModelFacts& facts, const std::vector<TextSimilarity>& similarities) {
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
  json.set("scale", facts.similarity_scale);
  json.set("bias", facts.similarity_bias);
  json.set("probability", facts.similarity_is_sigmoid ? "sigmoid" : "softmax");
  json.set("texts", std::move(texts));
  return json;
}

}  // namespace fovea
