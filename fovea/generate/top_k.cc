#include "fovea/generate/top_k.h"

#include <algorithm>
#include <utility>

#include "fovea/base/error.h"

namespace fovea {
namespace {

bool better(const Scored& a, const Scored& b) {
  return a.score > b.score;
}

}  // namespace

TopScores::TopScores(size_t most) : most_(most) {
  FOVEA_ASSERT(most > 0);
  kept_.reserve(most + 1);
}

void TopScores::fill(float score, int64_t index) {
  kept_.push_back({score, index});
  if (kept_.size() < most_) return;
  full_ = true;
  std::make_heap(kept_.begin(), kept_.end(), better);
}

// With the newcomer at the end, pop_heap does what one step of std::partial_sort does.
void TopScores::replace_worst(float score, int64_t index) {
  kept_.push_back({score, index});
  std::pop_heap(kept_.begin(), kept_.end(), better);
  kept_.pop_back();
}

std::vector<Scored> TopScores::take() {
  if (!full_) std::make_heap(kept_.begin(), kept_.end(), better);
  std::sort_heap(kept_.begin(), kept_.end(), better);
  full_ = false;
  return std::exchange(kept_, {});
}

std::vector<size_t> best_of(std::span<const float> scores, size_t most) {
  std::vector<Scored> order;
  order.reserve(scores.size());
  for (const float score : scores) order.push_back({score, static_cast<int64_t>(order.size())});
  most = std::min(most, order.size());
  if (most == 0) return {};
  const auto last = order.begin() + static_cast<std::ptrdiff_t>(most - 1);
  std::nth_element(order.begin(), last, order.end(), better);
  std::sort(order.begin(), last, better);
  std::vector<size_t> indices;
  for (auto entry = order.begin(); entry <= last; ++entry) {
    indices.push_back(static_cast<size_t>(entry->index));
  }
  return indices;
}

}  // namespace fovea
