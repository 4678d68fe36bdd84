#include "fovea/kernels/onednn_product.h"

#include <utility>

namespace fovea {
namespace {

using onednn::Desc;
using onednn::Tag;

Desc rows_desc(int64_t rows, int64_t cols, int64_t stride) {
  return {{rows, cols}, onednn::kF32, onednn::Dims{stride, 1}};
}

}  // namespace

OnednnProduct::OnednnProduct(int64_t in, int64_t out) : in_(in), out_(out) {
  constexpr int64_t kTypicalRows = 512;  // the layout for this many serves all others as well
  onednn::guarded("packing of weights", [&] {
    desc_ = onednn::matmul_desc(rows_desc(kTypicalRows, in, in),
                                Desc({in, out}, onednn::kF32, Tag::any), nullptr,
                                rows_desc(kTypicalRows, out, out), onednn::make_attributes())
                .weights_desc();
  });
}

Desc OnednnProduct::plain_desc(WeightLayout layout) const {
  return {{in_, out_}, onednn::kF32, layout == WeightLayout::kOutIn ? Tag::ba : Tag::ab};
}

void OnednnProduct::pack(const float* plain, WeightLayout layout, std::byte* packed) const {
  onednn::guarded("packing of weights",
                  [&] { onednn::reorder(plain_desc(layout), plain, desc_, packed); });
}

void OnednnProduct::unpack(const std::byte* packed, float* plain) const {
  onednn::guarded("unpacking of weights",
                  [&] { onednn::reorder(desc_, packed, plain_desc(WeightLayout::kOutIn), plain); });
}

OnednnProduct::Plan OnednnProduct::make_plan(const PlanKey& key) const {
  Plan plan;
  plan.source = rows_desc(key.rows, in_, key.x_stride);
  plan.bias = rows_desc(1, out_, out_);
  plan.destination = rows_desc(key.rows, out_, key.out_stride);
  dnnl::post_ops post_ops;
  onednn::append_activation(post_ops, key.activation);
  if (key.residual_stride == -1) {
    post_ops.append_sum(1.0f);
  } else if (key.residual_stride > 0) {
    plan.residual = rows_desc(key.rows, out_, key.residual_stride);
    plan.residual_argument = DNNL_ARG_ATTR_MULTIPLE_POST_OP(post_ops.len()) | DNNL_ARG_SRC_1;
    post_ops.append_binary(dnnl::algorithm::binary_add, plan.residual);
  }
  const auto primitive_desc =
      onednn::matmul_desc(plan.source, desc_, key.has_bias ? &plan.bias : nullptr, plan.destination,
                          onednn::make_attributes(post_ops));
  plan.scratchpad = primitive_desc.scratchpad_desc();
  plan.primitive = dnnl::matmul(primitive_desc);
  return plan;
}

void OnednnProduct::apply(const std::byte* packed, MatrixView<const float> x,
                          const Epilogue& epilogue, MatrixView<float> out) const {
  const MatrixView<const float> residual = epilogue.residual;
  const bool has_residual = residual.data != nullptr;
  const bool in_place = has_residual && residual.data == out.data && residual.stride == out.stride;
  PlanKey key{.rows = x.rows,
              .x_stride = x.stride,
              .out_stride = out.stride,
              .residual_stride = in_place ? -1 : (has_residual ? residual.stride : 0),
              .activation = epilogue.activation,
              .has_bias = !epilogue.bias.empty(),
              .threads = 1};
  onednn::guarded("matrix product", [&] {
    key.threads = thread_count();
    const auto plan = plans_.get(key, [&] { return make_plan(key); });
    onednn::Arguments arguments{{DNNL_ARG_SRC, onednn::wrap(plan->source, x.data)},
                                {DNNL_ARG_WEIGHTS, onednn::wrap(desc_, packed)},
                                {DNNL_ARG_DST, onednn::wrap(plan->destination, out.data)}};
    if (key.has_bias) {
      arguments.emplace(DNNL_ARG_BIAS, onednn::wrap(plan->bias, epilogue.bias.data()));
    }
    if (plan->residual_argument != 0) {
      arguments.emplace(plan->residual_argument, onednn::wrap(plan->residual, residual.data));
    }
    onednn::execute(plan->primitive, plan->scratchpad, std::move(arguments));
  });
}

}  // namespace fovea
