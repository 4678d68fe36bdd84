// Private to this folder: products with f32 weights in the layout that oneDNN multiplies fastest
// with.
#pragma once

#include "fovea/kernels/matmul.h"
#include "fovea/kernels/onednn.h"

namespace fovea {

// Of weights [in, out]; where they lie is told at each call. apply() may be called from any thread.
class OnednnProduct {
 public:
  OnednnProduct(int64_t in, int64_t out);

  int64_t in() const { return in_; }
  int64_t out() const { return out_; }
  size_t packed_bytes() const { return desc_.get_size(); }
  // From and to weights row by row: [out, in], or with kInOut [in, out].
  void pack(const float* plain, WeightLayout layout, std::byte* packed) const;
  void unpack(const std::byte* packed, float* plain) const;
  // As PackedMatrix::apply, whatever it costs.
  void apply(const std::byte* packed, MatrixView<const float> x, const Epilogue& epilogue,
             MatrixView<float> out) const;

 private:
  // Everything a primitive is made for; a change in any of it needs another one.
  struct PlanKey {
    int64_t rows;
    int64_t x_stride;
    int64_t out_stride;
    int64_t residual_stride;  // 0: no residual; -1: the output itself
    Activation activation;
    bool has_bias;
    int threads;  // oneDNN divides the work when it makes a primitive
    bool operator==(const PlanKey&) const = default;
  };
  struct Plan {
    dnnl::matmul primitive;
    onednn::Desc source, bias, destination, residual, scratchpad;
    int residual_argument = 0;
  };
  // Row counts change from call to call (prompts, single tokens); these are the kinds of call that
  // one matrix sees at a time. oneDNN itself keeps the compiled code of many more.
  static constexpr size_t kPlans = 16;

  onednn::Desc plain_desc(WeightLayout layout) const;
  Plan make_plan(const PlanKey& key) const;

  int64_t in_, out_;
  onednn::Desc desc_;
  mutable onednn::RecentlyUsed<PlanKey, Plan> plans_{kPlans};
};

}  // namespace fovea
