#include "fovea/generate/decoder_words.h"

#include <algorithm>
#include <iterator>

#include "fovea/layers/interventions.h"

namespace fovea {
namespace {

bool is_of_decoder(const std::optional<SiteId>& site) {
  return !site || site->kind == SiteKind::kDecoderSelf || site->kind == SiteKind::kCross;
}

// Whether a target of so many tokens has the positions that the change is about.
bool is_within(const Intervention& change, int64_t tokens) {
  if (const auto* hide = std::get_if<HidePosition>(&change)) {
    return hide->axis != "target" || hide->position < tokens;
  }
  if (const auto* zero = std::get_if<ZeroValue>(&change)) {
    const bool of_target = zero->site && zero->site->kind == SiteKind::kDecoderSelf;
    return !of_target || zero->position < tokens;
  }
  const auto* edge = std::get_if<HideEdge>(&change);
  if (edge == nullptr || !is_of_decoder(edge->site)) return true;
  const bool within = edge->site && edge->site->kind == SiteKind::kDecoderSelf;
  return edge->row < tokens && (!within || edge->col < tokens);
}

}  // namespace

std::vector<Intervention> changes_within(const std::vector<Intervention>& changes, int64_t tokens) {
  std::vector<Intervention> within;
  std::ranges::copy_if(changes, std::back_inserter(within),
                       [&](const Intervention& change) { return is_within(change, tokens); });
  return within;
}

Tensor DecoderWords::start(std::span<const int64_t> prompt) {
  FOVEA_ASSERT(cache_.length() == 0);
  return model_.decode(source_, prompt, {}, {.cache = &cache_, .logits = LogitRows::kLast})
      .logits.tensor;
}

Tensor DecoderWords::step(std::span<const int64_t> parents, std::span<const int64_t> ids) {
  cache_.branch(parents);
  return model_.decode(source_, ids, {}, {.cache = &cache_, .logits = LogitRows::kAll})
      .logits.tensor;
}

Tensor ChangedDecoderWords::start(std::span<const int64_t> prompt) {
  texts_.assign(1, std::vector<int64_t>(prompt.begin(), prompt.end()));
  return scores();
}

Tensor ChangedDecoderWords::step(std::span<const int64_t> parents, std::span<const int64_t> ids) {
  std::vector<std::vector<int64_t>> texts;
  for (size_t h = 0; h < parents.size(); ++h) {
    texts.push_back(texts_[static_cast<size_t>(parents[h])]);
    texts.back().push_back(ids[h]);
  }
  texts_ = std::move(texts);
  return scores();
}

Tensor ChangedDecoderWords::scores() const {
  const auto tokens = static_cast<int64_t>(texts_.front().size());
  const Interventions changes(changes_within(changes_, tokens));
  Tensor all;
  for (size_t h = 0; h < texts_.size(); ++h) {
    const Tensor one =
        model_.decode(source_, texts_[h], {}, {.logits = LogitRows::kLast, .changes = &changes})
            .logits.tensor;
    if (all.empty()) {
      all = Tensor::uninitialized({static_cast<int64_t>(texts_.size()), one.elements()});
    }
    std::ranges::copy(one.values<float>(),
                      all.mutable_matrix<float>().row(static_cast<int64_t>(h)));
  }
  return all;
}

}  // namespace fovea
