#include "fovea/layers/mask_head.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fovea/base/cancel.h"
#include "fovea/base/error.h"
#include "fovea/base/parallel.h"
#include "fovea/kernels/attention_tile.h"
#include "fovea/kernels/group_norm.h"
#include "fovea/layers/text_mask.h"
#include "fovea/ops/layout.h"
#include "fovea/ops/slice.h"

namespace fovea {
namespace {

constexpr int64_t kMostGroups = 8;
constexpr float kMaskNormEpsilon = 1e-5F;          // no configuration says another
constexpr int64_t kChunkBytes = int64_t{1} << 26;  // of the largest feature map of some queries

constexpr ConvGeometry kSameSize{.padding = {1, 1}};

PackedConv load_mask_convolution(const LayerSource& source, int64_t in, int64_t out,
                                 int64_t kernel) {
  return {source.weights.tensor("weight", {out, in, kernel, kernel}),
          load_vector(source, "bias", out), kernel == 1 ? ConvGeometry{} : kSameSize};
}

// Input channels [begin, end) of a convolution's weights.
Tensor input_channels(const LayerSource& source, const Shape& shape, int64_t begin, int64_t end) {
  return ops::slice(source.weights.tensor("weight", shape, DType::kF32), 1, begin, end).tensor;
}

// base [1, channels, height, width] plus every picture of x [pictures, channels, ..], brought to
// that size as PyTorch's nearest interpolation does.
Tensor add_enlarged(const Tensor& base, const Tensor& x) {
  const int64_t pictures = x.size(0), channels = x.size(1), rows = x.size(2), cols = x.size(3);
  const int64_t height = base.size(2), width = base.size(3);
  const auto sources = [](int64_t from, int64_t to) {
    std::vector<int64_t> result;
    const float step = static_cast<float>(from) / static_cast<float>(to);
    for (int64_t i = 0; i < to; ++i) {
      result.push_back(
          std::min(static_cast<int64_t>(std::floor(static_cast<float>(i) * step)), from - 1));
    }
    return result;
  };
  const std::vector<int64_t> row_of = sources(rows, height), col_of = sources(cols, width);
  Tensor out = Tensor::uninitialized({pictures, channels, height, width});
  float* to = out.mutable_values<float>().data();
  const float* small = x.values<float>().data();
  const float* fixed = base.values<float>().data();
  parallel_for(pictures * channels, [&](int64_t plane) {
    for (int64_t row = 0; row < height; ++row) {
      const float* from = small + (plane * rows + row_of[static_cast<size_t>(row)]) * cols;
      const float* add = fixed + (plane % channels * height + row) * width;
      float* target = to + (plane * height + row) * width;
      for (int64_t col = 0; col < width; ++col) {
        target[col] = add[col] + from[col_of[static_cast<size_t>(col)]];
      }
    }
  });
  return out;
}

}  // namespace

MaskHead::NormedConv MaskHead::load_normed(const LayerSource& convolution, const LayerSource& norm,
                                           int64_t in, int64_t out) {
  return {load_mask_convolution(convolution, in, out, 3), load_vector(norm, "weight", out),
          load_vector(norm, "bias", out)};
}

MaskHead::MaskHead(const LayerSource& source, const Config& config, const AttentionSizes& sizes,
                   const std::array<int64_t, kFineMaps>& channels)
    : sizes_(sizes),
      activation_(activation_named(config, "activation_function", "relu")),
      query_(load_linear(source["bbox_attention.q_linear"], sizes.width, sizes.width)),
      key_(load_linear(source["bbox_attention.k_linear"], sizes.width, sizes.width)),
      of_features_([&] {
        const LayerSource first = source["mask_head.lay1"];
        const int64_t all = sizes.width + sizes.heads;
        return PackedConv(input_channels(first, {all, all, 3, 3}, 0, sizes.width),
                          load_vector(first, "bias", all), kSameSize);
      }()),
      of_maps_([&] {
        const LayerSource first = source["mask_head.lay1"];
        const int64_t all = sizes.width + sizes.heads;
        return PackedConv(input_channels(first, {all, all, 3, 3}, sizes.width, all), {}, kSameSize);
      }()),
      first_weight_(load_vector(source["mask_head.gn1"], "weight", sizes.width + sizes.heads)),
      first_bias_(load_vector(source["mask_head.gn1"], "bias", sizes.width + sizes.heads)),
      second_(load_normed(source["mask_head.lay2"], source["mask_head.gn2"],
                          sizes.width + sizes.heads, sizes.width / 2)),
      output_(load_mask_convolution(source["mask_head.out_lay"], sizes.width / 16, 1, 3)) {
  const LayerSource head = source["mask_head"];
  int64_t width = sizes.width / 2;
  for (size_t i = 0; i < kFineMaps; ++i) {
    stages_.push_back(
        {load_mask_convolution(head[fmt::format("adapter{}", i + 1)], channels[i], width, 1),
         load_normed(head[fmt::format("lay{}", i + 3)], head[fmt::format("gn{}", i + 3)], width,
                     sizes.width >> (i + 2))});
    width = sizes.width >> (i + 2);
  }
  for (int64_t divided : {sizes.width + sizes.heads, sizes.width / 2, sizes.width / 4,
                          sizes.width / 8, sizes.width / 16}) {
    if (divided < 1 || divided % std::min(kMostGroups, divided) != 0) {
      fail(ErrorKind::kBadFile,
           "{}: d_model is {} with {} heads; the mask head norms {} channels in {} groups",
           config.source(), sizes.width, sizes.heads, divided, kMostGroups);
    }
  }
}

MaskHead::Attention MaskHead::attend(const Pass& pass, const Tensor& queries, const Tensor& memory,
                                     const CellGrid& grid) const {
  Attention result{.queries = ops::split_heads(query_(queries), sizes_.heads).tensor,
                   .keys = ops::split_heads(key_(memory), sizes_.heads).tensor,
                   .lse = {},
                   .rule = source_rule(sizes_.scale(), grid.valid)};
  const AttentionPlace place{
      .site = {SiteKind::kPanoptic, 0}, .row_axis = "queries", .col_axis = "cells"};
  result.lse = attend_jointly(pass, place, result.queries, result.keys, result.rule);
  return result;
}

void MaskHead::normalize(const NormedConv& conv, Tensor& x) const {
  group_norm(x, std::min(kMostGroups, x.size(1)), conv.weight.values<float>(),
             conv.bias.values<float>(), kMaskNormEpsilon, activation_);
}

Tensor MaskHead::masks(const Attention& attention, const Tensor& features,
                       const FineMaps& fine) const {
  const AttentionInputs inputs{
      HeadsView::of(attention.queries), HeadsView::of(attention.keys), {}, attention.rule.get()};
  const int64_t heads = sizes_.heads, queries = attention.queries.size(1);
  const int64_t rows = features.size(2), cols = features.size(3), cells = rows * cols;
  std::vector<HeadTiles> tiles;
  for (int64_t head = 0; head < heads; ++head) tiles.emplace_back(inputs, head, KeyRange{0, cells});
  const Tensor base = of_features_.apply(features);
  std::vector<Tensor> adapted;
  for (size_t i = 0; i < kFineMaps; ++i) adapted.push_back(stages_[i].adapter.apply(fine[i]));

  const int64_t height = fine.back().size(2), width = fine.back().size(3), area = height * width;
  Tensor result = Tensor::uninitialized({queries, height, width});
  const int64_t most = std::max<int64_t>(1, kChunkBytes / (4 * adapted.back().size(1) * area));
  for (int64_t first = 0; first < queries; first += most) {
    check_cancelled();
    const int64_t count = std::min(most, queries - first);
    Tensor maps = Tensor::uninitialized({count, heads, rows, cols});
    Tensor tile = Tensor::uninitialized({count, cells});
    for (int64_t head = 0; head < heads; ++head) {
      tiles[static_cast<size_t>(head)].weights(
          first, {0, cells},
          attention.lse.values<double>().subspan(static_cast<size_t>(first),
                                                 static_cast<size_t>(count)),
          tile.mutable_matrix<float>());
      for (int64_t query = 0; query < count; ++query) {
        std::copy_n(tile.values<float>().data() + query * cells, cells,
                    maps.mutable_values<float>().data() + (query * heads + head) * cells);
      }
    }
    Tensor x = add_enlarged(base, of_maps_.apply(maps));
    group_norm(x, std::min(kMostGroups, x.size(1)), first_weight_.values<float>(),
               first_bias_.values<float>(), kMaskNormEpsilon, activation_);
    x = second_.convolution.apply(x);
    normalize(second_, x);
    for (size_t i = 0; i < stages_.size(); ++i) {
      x = stages_[i].refine.convolution.apply(add_enlarged(adapted[i], x));
      normalize(stages_[i].refine, x);
    }
    x = output_.apply(x);
    std::ranges::copy(x.values<float>(), result.mutable_values<float>().data() + first * area);
  }
  return result;
}

}  // namespace fovea
