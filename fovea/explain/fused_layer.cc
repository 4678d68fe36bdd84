#include "fovea/explain/fused_layer.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "fovea/base/parallel.h"

namespace fovea {
namespace {

constexpr int kHalfBits = 16;
constexpr uint32_t kHalfMask = 0xFFFF;

// Weights are 0 or more, and such floats are in the order of their bits.
uint32_t order_bits(float weight) {
  return std::bit_cast<uint32_t>(weight);
}

template <typename Join>
void join_rows(MatrixView<const float> head, MatrixView<float> all, const Join& join) {
  parallel_for(all.rows, [&](int64_t r) {
    std::transform(all.row(r), all.row(r) + all.cols, head.row(r), all.row(r), join);
  });
}

void fuse(HeadFusion fusion, MatrixView<const float> head, MatrixView<float> all) {
  switch (fusion) {
    case HeadFusion::kMean:
      return join_rows(head, all, [](float a, float b) { return a + b; });
    case HeadFusion::kMax:
      return join_rows(head, all, [](float a, float b) { return a < b ? b : a; });
    case HeadFusion::kMin:
      return join_rows(head, all, [](float a, float b) { return b < a ? b : a; });
  }
}

// The bin that holds the entry of this rank, and the rank within it.
std::pair<uint32_t, int64_t> find_bin(std::span<const int64_t> bins, int64_t rank) {
  uint32_t bin = 0;
  while (bin + 1 < bins.size() && rank >= bins[bin]) rank -= bins[bin++];
  return {bin, rank};
}

}  // namespace

FusedLayer::FusedLayer(const std::shared_ptr<const AttentionRecord>& record, HeadFusion fusion)
    : fusion_(fusion) {
  for (int64_t head = 0; head < record->shape().heads; ++head) maps_.emplace_back(record, head);
}

void FusedLayer::for_each_row(const std::function<void(int64_t, std::span<float>)>& visit) const {
  constexpr int64_t kBlockCells = int64_t{1} << 20;  // 4 MiB of weights at a time
  const int64_t step = std::clamp<int64_t>(kBlockCells / std::max<int64_t>(cols(), 1), 1, rows());
  Tensor fused_buffer = Tensor::uninitialized({step, cols()});
  Tensor head_buffer = Tensor::uninitialized({step, cols()});
  for (int64_t first = 0; first < rows(); first += step) {
    const int64_t count = std::min(step, rows() - first);
    const Region region{first, first + count, 0, cols()};
    const auto fused = fused_buffer.mutable_matrix<float>().block(0, 0, count, cols());
    const auto head = head_buffer.mutable_matrix<float>().block(0, 0, count, cols());
    maps_.front().tile(region, fused);
    for (size_t h = 1; h < maps_.size(); ++h) {
      maps_[h].tile(region, head);
      fuse(fusion_, head, fused);
    }
    const float factor =
        fusion_ == HeadFusion::kMean ? 1.0F / static_cast<float>(maps_.size()) : 1.0F;
    for (int64_t r = 0; r < count; ++r) {
      const std::span<float> row(fused.row(r), static_cast<size_t>(cols()));
      for (float& weight : row) weight *= factor;
      visit(first + r, row);
    }
  }
}

SmallestEntries smallest_entries(const FusedLayer& layer, int64_t count) {
  if (count <= 0) return {};
  // The last entry to take has rank count - 1: its upper half of bits first, then the lower half.
  std::vector<int64_t> bins(size_t{1} << kHalfBits, 0);
  const auto count_upper = [&](int64_t, std::span<float> row) {
    for (const float weight : row) ++bins[order_bits(weight) >> kHalfBits];
  };
  layer.for_each_row(count_upper);
  const auto [upper, rank] = find_bin(bins, count - 1);
  std::fill(bins.begin(), bins.end(), 0);
  const auto count_lower = [&, wanted = upper](int64_t, std::span<float> row) {
    for (const float weight : row) {
      if (order_bits(weight) >> kHalfBits == wanted) ++bins[order_bits(weight) & kHalfMask];
    }
  };
  layer.for_each_row(count_lower);
  const auto [lower, rank_of_equals] = find_bin(bins, rank);
  return {std::bit_cast<float>(upper << kHalfBits | lower), rank_of_equals + 1};
}

}  // namespace fovea
