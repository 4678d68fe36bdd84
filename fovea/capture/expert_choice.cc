#include "fovea/capture/expert_choice.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"

namespace fovea {

void validate(const ExpertChoice& choice) {
  const bool fits = choice.layer >= 0 && choice.chosen.dtype() == DType::kI64 &&
                    choice.shares.dtype() == DType::kF32 && choice.chosen.rank() == 2 &&
                    choice.chosen.shape() == choice.shares.shape();
  if (!fits) {
    fail(ErrorKind::kInvalidArgument,
         "the experts of layer {} are {} {} with shares {} {}; they must be I64 and F32 [tokens, "
         "experts taken]",
         choice.layer, dtype_name(choice.chosen.dtype()), to_string(choice.chosen.shape()),
         dtype_name(choice.shares.dtype()), to_string(choice.shares.shape()));
  }
  for (const int64_t expert : choice.chosen.values<int64_t>()) {
    if (expert < 0 || expert >= choice.experts) {
      fail(ErrorKind::kInvalidArgument, "layer {} took expert {} but has {}, counted from 0",
           choice.layer, expert, choice.experts);
    }
  }
  if (std::ranges::any_of(choice.shares.values<float>(),
                          [](float share) { return !std::isfinite(share); })) {
    fail(ErrorKind::kInvalidArgument, "a share of the experts of layer {} is no finite number",
         choice.layer);
  }
}

ExpertChoice joined(const ExpertChoice& choice, const ExpertChoice& more) {
  FOVEA_ASSERT(choice.layer == more.layer && choice.taken() == more.taken());
  const auto together = [](const auto& a, const auto& b, const Shape& shape) {
    using T = std::remove_cvref_t<decltype(a[0])>;
    std::vector<T> all(a.begin(), a.end());
    all.insert(all.end(), b.begin(), b.end());
    return Tensor::from<T>(shape, all);
  };
  const Shape shape{choice.tokens() + more.tokens(), choice.taken()};
  ExpertChoice both{.layer = choice.layer, .experts = choice.experts};
  both.chosen = together(choice.chosen.values<int64_t>(), more.chosen.values<int64_t>(), shape);
  both.shares = together(choice.shares.values<float>(), more.shares.values<float>(), shape);
  return both;
}

}  // namespace fovea
