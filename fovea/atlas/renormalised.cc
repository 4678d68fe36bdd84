#include "fovea/atlas/renormalised.h"

#include <cmath>
#include <vector>

#include "fovea/atlas/attention_map.h"
#include "fovea/atlas/even_attention.h"
#include "fovea/base/error.h"
#include "fovea/tensor/convert.h"

namespace fovea {

std::shared_ptr<const AttentionRecord> renormalised(
    const std::shared_ptr<const AttentionRecord>& record, HeadChoice head,
    std::span<const int64_t> left_out) {
  if (head.kind == HeadChoice::Kind::kMax || head.kind == HeadChoice::Kind::kMin) {
    fail(ErrorKind::kUnsupported, Field{"renormalise"},
         "rows of the largest or smallest over heads are no shares of one whole; choose a head or "
         "the mean");
  }
  if (!record->has_queries()) {
    fail(ErrorKind::kUnsupported, Field{"renormalise"},
         "the weights of {} are stored as they are, without queries and keys; divide their rows "
         "before they are saved",
         to_string(record->site));
  }
  const AttentionShape shape = record->shape();
  auto copy = std::make_shared<AttentionRecord>(*record);
  std::vector<uint8_t>& valid = copy->rule.mask.key_valid;
  if (valid.empty()) valid.assign(static_cast<size_t>(shape.cols), 1);
  for (const int64_t column : left_out) valid[static_cast<size_t>(column)] = 0;

  // What the rows of the map keep, exact even where that is little.
  const bool one = head.kind == HeadChoice::Kind::kOne;
  const Tensor before = convert(record->lse, DType::kF64);
  const AttentionInputs inputs = inputs_of(*copy);
  const Tensor ones = Tensor::from({shape.cols, 1}, std::vector<float>(size_t(shape.cols), 1.0F));
  Tensor sums({shape.rows, 1});
  std::vector<double> after(static_cast<size_t>(shape.rows)), rest(after.size());
  for (int64_t h = one ? head.head : 0; h < (one ? head.head + 1 : shape.heads); ++h) {
    attention_of_head(inputs, h, ones.matrix<float>(), sums.mutable_matrix<float>(), after);
    const double* old = before.values<double>().data() + h * shape.rows;
    for (size_t row = 0; row < rest.size(); ++row) {
      rest[row] += std::exp(after[row] - old[row]) / static_cast<double>(one ? 1 : shape.heads);
    }
  }
  const MaskCounts counts(copy->rule.mask, shape.cols);
  std::vector<double> lse(before.values<double>().begin(), before.values<double>().end());
  for (int64_t row = 0; row < shape.rows; ++row) {
    const double kept = rest[static_cast<size_t>(row)];
    for (int64_t h = 0; h < shape.heads; ++h) {
      double& value = lse[static_cast<size_t>(h * shape.rows + row)];
      value = counts.all(row) > 0 && kept > 0 ? value + std::log(kept) : 0;
    }
  }
  copy->lse = Tensor::from({shape.heads, shape.rows}, lse);
  return copy;
}

}  // namespace fovea
