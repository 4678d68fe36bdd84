#include "fovea/layers/attention_layer.h"

#include <cmath>

#include "fovea/base/error.h"
#include "fovea/kernels/attention.h"
#include "fovea/layers/attention_cache.h"
#include "fovea/ops/layout.h"
#include "fovea/ops/rotary.h"
#include "fovea/ops/slice.h"

namespace fovea {
namespace {

BlockContext block_of(const Value& input, const ops::Linear& output, const Norm* norm,
                      bool norm_before_residual = false) {
  BlockContext block;
  block.input = input.tensor;
  block.output_weight = output.weight().unpack();
  block.output_bias = output.bias();
  if (norm != nullptr) {
    block.norm_weight = norm->weight();
    block.norm_bias = norm->bias();
    block.norm_epsilon = norm->epsilon();
    block.norm_before_residual = norm_before_residual;
  }
  return block;
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

AttentionLayer::Projected AttentionLayer::project(const Value& x) const {
  const int64_t heads = sizes_.heads, kv_heads = sizes_.kv_heads;
  if (projections_.size() == 3) {
    return {ops::split_heads(projections_[0](x), heads),
            ops::split_heads(projections_[1](x), kv_heads),
            ops::split_heads(projections_[2](x), kv_heads)};
  }
  const Value joined = projections_[0](x);
  const int64_t query_end = heads * sizes_.head_dim;
  const int64_t key_end = query_end + kv_heads * sizes_.head_dim;
  return {ops::split_heads(ops::slice(joined, 1, 0, query_end), heads),
          ops::split_heads(ops::slice(joined, 1, query_end, key_end), kv_heads),
          ops::split_heads(ops::slice(joined, 1, key_end, joined.shape().back()), kv_heads)};
}

Value AttentionLayer::operator()(const Pass& pass, SiteId site, const Value& x,
                                 const AttentionSetting& setting, const Value& residual,
                                 const Norm* norm) const {
  Projected p = project(x);
  if (query_norm_) {
    p.queries = (*query_norm_)(p.queries);
    p.keys = (*key_norm_)(p.keys);
  }
  if (setting.rotary != nullptr) {
    p.queries = ops::rotary(p.queries, *setting.rotary, setting.pairing);
    p.keys = ops::rotary(p.keys, *setting.rotary, setting.pairing);
  }
  AttentionPlace place = AttentionPlace::of(site);
  if (!setting.axis.empty()) place.row_axis = place.col_axis = setting.axis;
  place.block = [this, &residual, &setting, norm] {
    return setting.added_later != nullptr ? block_of(*setting.added_later, output_, norm, true)
                                          : block_of(residual, output_, norm);
  };
  const Value mixed = attend(pass, place, p.queries, p.keys, p.values, setting.rule);
  return output_(mixed, Activation::kNone, residual);
}

Value AttentionLayer::cross(const Pass& pass, SiteId site, const Value& x, const Value& memory,
                            const std::shared_ptr<const ScoreRule>& rule, const Value& residual,
                            const Norm* norm) const {
  FOVEA_ASSERT(projections_.size() == 3);
  const auto project_memory = [&]() -> AttentionCache::Memory {
    return {ops::split_heads(projections_[1](memory), sizes_.kv_heads),
            ops::split_heads(projections_[2](memory), sizes_.kv_heads)};
  };
  const AttentionCache::Memory made =
      pass.cache == nullptr ? project_memory() : pass.cache->memory(site, project_memory);
  AttentionPlace place = AttentionPlace::of(site);
  place.block = [this, &residual, norm] { return block_of(residual, output_, norm); };
  const Value queries = ops::split_heads(projections_[0](x), sizes_.heads);
  const Value mixed = attend(pass, place, queries, made.keys, made.values, rule);
  return output_(mixed, Activation::kNone, residual);
}

}  // namespace fovea
