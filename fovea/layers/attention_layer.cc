#include "fovea/layers/attention_layer.h"

#include <cmath>

#include "fovea/base/error.h"
#include "fovea/kernels/attention.h"
#include "fovea/layers/attention_cache.h"
#include "fovea/ops/elementwise.h"
#include "fovea/ops/layout.h"
#include "fovea/ops/rotary.h"
#include "fovea/ops/slice.h"

namespace fovea {
namespace {

BlockContext block_of(const Value& input, const ops::Linear& output, float scale, const Norm* norm,
                      bool norm_before_residual = false) {
  BlockContext block;
  block.input = input.tensor;
  block.output_weight = output.weight().unpack();
  block.output_bias = output.bias();
  if (scale != 1) {
    block.output_weight = ops::scale(block.output_weight, scale).tensor;
    if (!block.output_bias.empty()) block.output_bias = ops::scale(block.output_bias, scale).tensor;
  }
  if (norm != nullptr) {
    block.norm_weight = norm->weight();
    block.norm_bias = norm->bias();
    block.norm_epsilon = norm->epsilon();
    block.norm_before_residual = norm_before_residual;
  }
  return block;
}

Value with_positions(const Value& x, const Tensor& positions) {
  return positions.empty() ? x : ops::add(x, positions);
}

// W p without the bias, head by head.
Tensor position_part(const ops::Linear& projection, const Tensor& positions, int64_t heads) {
  Tensor part = Tensor::uninitialized({positions.size(0), projection.out()});
  projection.weight().apply(positions.matrix<float>(), {}, part.mutable_matrix<float>());
  return ops::split_heads(part, heads).tensor;
}

void check_head_dim(const Config& config, int64_t head_dim) {
  if (head_dim > kMaxHeadDim) {
    fail(ErrorKind::kUnsupported, "{}: heads have {} numbers each; fovea takes up to {}",
         config.source(), head_dim, kMaxHeadDim);
  }
}

}  // namespace

AttentionSizes AttentionSizes::equal_heads(const Config& config, std::string_view width_key,
                                           std::string_view heads_key) {
  AttentionSizes sizes;
  sizes.width = config.get_size(width_key);
  sizes.heads = sizes.kv_heads = config.get_size(heads_key);
  if (sizes.width % sizes.heads != 0) {
    fail(ErrorKind::kBadFile, "{}: {} is {} and {} {}; the heads must divide the width",
         config.source(), width_key, sizes.width, heads_key, sizes.heads);
  }
  sizes.head_dim = sizes.width / sizes.heads;
  check_head_dim(config, sizes.head_dim);
  return sizes;
}

AttentionSizes AttentionSizes::own_head_size(const Config& config, std::string_view width_key,
                                             std::string_view heads_key,
                                             std::string_view head_dim_key) {
  AttentionSizes sizes;
  sizes.width = config.get_size(width_key);
  sizes.heads = sizes.kv_heads = config.get_size(heads_key);
  sizes.head_dim = config.get_size(head_dim_key);
  check_head_dim(config, sizes.head_dim);
  return sizes;
}

AttentionSizes AttentionSizes::grouped_heads(const Config& config) {
  AttentionSizes sizes;
  if (config.has("head_dim")) {
    sizes = own_head_size(config, "hidden_size", "num_attention_heads", "head_dim");
  } else {
    sizes = equal_heads(config);
  }
  sizes.kv_heads = config.get_size("num_key_value_heads", sizes.heads);
  if (sizes.heads % sizes.kv_heads != 0) {
    fail(ErrorKind::kBadFile,
         "{}: num_attention_heads is {} and num_key_value_heads {}; the latter must divide the "
         "former",
         config.source(), sizes.heads, sizes.kv_heads);
  }
  return sizes;
}

float AttentionSizes::scale() const {
  return 1 / std::sqrt(static_cast<float>(head_dim));
}

AttentionLayer::Projected AttentionLayer::project_rows(const Value& x,
                                                       const AttentionSetting& setting,
                                                       bool values) const {
  if (projections_.size() == 3) {
    const Value query_input = with_positions(x, setting.query_positions);
    const Value key_input = setting.key_positions.raw() == setting.query_positions.raw()
                                ? query_input
                                : with_positions(x, setting.key_positions);
    return {projections_[0](query_input), projections_[1](key_input),
            values ? projections_[2](x) : Value()};
  }
  FOVEA_ASSERT(setting.query_positions.empty() && setting.key_positions.empty());
  return split_joined(projections_[0](x));
}

AttentionLayer::Projected AttentionLayer::split_joined(const Value& joined) const {
  const int64_t rows = joined.shape()[0], dim = sizes_.head_dim;
  if (grouped_) {
    const int64_t groups = sizes_.kv_heads, queries = sizes_.heads / groups;
    const Value apart = ops::reshape(joined, {rows, groups, queries + 2, dim});
    const auto part = [&](int64_t begin, int64_t end) {
      return ops::reshape(ops::slice(apart, 2, begin, end), {rows, groups * (end - begin) * dim});
    };
    return {part(0, queries), part(queries, queries + 1), part(queries + 1, queries + 2)};
  }
  const int64_t query_end = sizes_.heads * dim, key_end = query_end + sizes_.kv_heads * dim;
  return {ops::slice(joined, 1, 0, query_end), ops::slice(joined, 1, query_end, key_end),
          ops::slice(joined, 1, key_end, joined.shape().back())};
}

AttentionLayer::Projected AttentionLayer::project(const Value& x, const AttentionSetting& setting,
                                                  bool values) const {
  Projected rows = project_rows(x, setting, values);
  if (limit_ > 0) {
    for (Value* part : {&rows.queries, &rows.keys, &rows.values}) {
      if (!part->tensor.empty()) *part = ops::clamp(*part, -limit_, limit_);
    }
  }
  if (query_row_norm_) {
    rows.queries = (*query_row_norm_)(rows.queries);
    rows.keys = (*key_row_norm_)(rows.keys);
  }
  return {ops::split_heads(rows.queries, sizes_.heads),
          ops::split_heads(rows.keys, sizes_.kv_heads),
          rows.values.tensor.empty() ? Value() : ops::split_heads(rows.values, sizes_.kv_heads)};
}

Value AttentionLayer::give_out(const Value& mixed, const Value& residual) const {
  if (output_scale_ == 1) return output_(mixed, Activation::kNone, residual);
  const Value scaled = ops::scale(output_(mixed), output_scale_);
  return residual.tensor.empty() ? scaled : ops::add(residual, scaled);
}

void AttentionLayer::add_biases(BlockContext& block) const {
  if (projections_.size() == 3) {
    block.query_bias = projections_[0].bias();
    block.key_bias = projections_[1].bias();
    block.value_bias = projections_[2].bias();
    return;
  }
  const Tensor& joined = projections_[0].bias();
  if (joined.empty()) return;
  const Projected biases = split_joined(joined.reshaped({1, joined.size(0)}));
  const auto vector = [](const Value& row) { return row.tensor.reshaped({row.shape()[1]}); };
  block.query_bias = vector(biases.queries);
  block.key_bias = vector(biases.keys);
  block.value_bias = vector(biases.values);
}

AttentionPlace AttentionLayer::place_of(SiteId site, const AttentionSetting& setting) const {
  AttentionPlace place = AttentionPlace::of(site);
  place.compute = projections_.front().weight().compute_dtype();
  if (!setting.row_axis.empty()) place.row_axis = setting.row_axis;
  if (!setting.col_axis.empty()) place.col_axis = setting.col_axis;
  if (!setting.query_positions.empty() && !setting.key_positions.empty()) {
    place.positions = [this, &setting]() -> PositionParts {
      return {position_part(projections_[0], setting.query_positions, sizes_.heads),
              position_part(projections_[1], setting.key_positions, sizes_.kv_heads)};
    };
  }
  return place;
}

Value AttentionLayer::operator()(const Pass& pass, SiteId site, const Value& x,
                                 const AttentionSetting& setting, const Value& residual,
                                 const Norm* norm) const {
  Projected p = project(x, setting, !pass.ends_with_map(site));
  if (query_norm_) {
    p.queries = (*query_norm_)(p.queries);
    p.keys = (*key_norm_)(p.keys);
  }
  if (setting.rotary) {
    p.queries = ops::rotary(p.queries, *setting.rotary, setting.pairing);
    p.keys = ops::rotary(p.keys, *setting.rotary, setting.pairing);
  }
  AttentionPlace place = place_of(site, setting);
  place.block = [this, &residual, &setting, norm] {
    BlockContext block = setting.added_later != nullptr
                             ? block_of(*setting.added_later, output_, output_scale_, norm, true)
                             : block_of(residual, output_, output_scale_, norm);
    add_biases(block);
    return block;
  };
  const Value mixed = attend(pass, place, p.queries, p.keys, p.values, setting.rule);
  return give_out(mixed, residual);
}

Value AttentionLayer::cross(const Pass& pass, SiteId site, const Value& x, const Value& memory,
                            const AttentionSetting& setting, const Value& residual,
                            const Norm* norm) const {
  FOVEA_ASSERT(projections_.size() == 3 && !setting.rotary);
  const auto project_memory = [&]() -> AttentionCache::Memory {
    const Value key_input = with_positions(memory, setting.key_positions);
    return {ops::split_heads(projections_[1](key_input), sizes_.kv_heads),
            ops::split_heads(projections_[2](memory), sizes_.kv_heads)};
  };
  const AttentionCache::Memory made =
      pass.cache == nullptr ? project_memory() : pass.cache->memory(site, project_memory);
  AttentionPlace place = place_of(site, setting);
  place.block = [this, &residual, norm] {
    BlockContext block = block_of(residual, output_, output_scale_, norm);
    add_biases(block);
    return block;
  };
  const Value query_input = with_positions(x, setting.query_positions);
  const Value queries = ops::split_heads(projections_[0](query_input), sizes_.heads);
  const Value mixed = attend(pass, place, queries, made.keys, made.values, setting.rule);
  return give_out(mixed, residual);
}

}  // namespace fovea
