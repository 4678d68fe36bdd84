#include "fovea/kernels/onednn.h"

#include "fovea/base/cancel.h"
#include "fovea/tensor/tensor.h"

namespace fovea::onednn {
namespace {

dnnl::stream& thread_stream() {
  thread_local dnnl::stream stream(cpu());
  return stream;
}

// Scratch memory of one call. Small ones, the usual case, come from a buffer that the thread keeps.
class Scratch {
 public:
  explicit Scratch(const Desc& desc) {
    const auto bytes = static_cast<int64_t>(desc.get_size());
    if (bytes <= kKeptBytes) {
      thread_local Tensor kept = Tensor::uninitialized({kKeptBytes}, DType::kU8);
      data_ = kept.mutable_raw();
    } else {
      large_ = Tensor::uninitialized({bytes}, DType::kU8);
      data_ = large_.mutable_raw();
    }
  }
  void* data() { return data_; }

 private:
  static constexpr int64_t kKeptBytes = int64_t{1} << 20;
  Tensor large_;
  std::byte* data_ = nullptr;
};

}  // namespace

const dnnl::engine& cpu() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

dnnl::memory wrap(const Desc& desc, const void* data) {
  return {desc, cpu(), const_cast<void*>(data)};
}

dnnl::primitive_attr make_attributes(const dnnl::post_ops& post_ops) {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  attr.set_post_ops(post_ops);
  return attr;
}

void execute(const dnnl::primitive& primitive, const Desc& scratchpad, Arguments arguments) {
  check_cancelled();
  Scratch scratch(scratchpad);
  arguments.emplace(DNNL_ARG_SCRATCHPAD, wrap(scratchpad, scratch.data()));
  primitive.execute(thread_stream(), arguments);
  thread_stream().wait();
}

void reorder(const Desc& from_desc, const void* from, const Desc& to_desc, void* to) {
  const dnnl::reorder::primitive_desc desc(cpu(), from_desc, cpu(), to_desc, make_attributes());
  execute(dnnl::reorder(desc), desc.scratchpad_desc(),
          {{DNNL_ARG_FROM, wrap(from_desc, from)}, {DNNL_ARG_TO, wrap(to_desc, to)}});
}

void append_activation(dnnl::post_ops& post_ops, Activation activation) {
  const auto append = [&](dnnl::algorithm algorithm, float alpha = 0) {
#if DNNL_VERSION_MAJOR >= 3
    post_ops.append_eltwise(algorithm, alpha, 0);
#else
    post_ops.append_eltwise(/*scale=*/1, algorithm, alpha, 0);
#endif
  };
  switch (activation) {
    case Activation::kNone:
      return;
    case Activation::kRelu:
      return append(dnnl::algorithm::eltwise_relu);
    case Activation::kGelu:
      return append(dnnl::algorithm::eltwise_gelu_erf);
    case Activation::kGeluTanh:
      return append(dnnl::algorithm::eltwise_gelu_tanh);
    case Activation::kQuickGelu:
      return append(dnnl::algorithm::eltwise_swish, 1.702f);
    case Activation::kSilu:
      return append(dnnl::algorithm::eltwise_swish, 1.0f);
    case Activation::kSigmoid:
      return append(dnnl::algorithm::eltwise_logistic);
    case Activation::kTanh:
      return append(dnnl::algorithm::eltwise_tanh);
  }
}

#if DNNL_VERSION_MAJOR >= 3

dnnl::matmul::primitive_desc matmul_desc(const Desc& source, const Desc& weights, const Desc* bias,
                                         const Desc& destination,
                                         const dnnl::primitive_attr& attr) {
  if (bias == nullptr) return {cpu(), source, weights, destination, attr};
  return {cpu(), source, weights, *bias, destination, attr};
}

dnnl::convolution_forward::primitive_desc conv_forward_desc(const ConvDescs& d,
                                                            const dnnl::primitive_attr& attr) {
  constexpr auto kAlgorithm = dnnl::algorithm::convolution_direct;
  if (d.bias == nullptr) {
    return {cpu(),     d.kind,      kAlgorithm, d.source,  d.weights, d.destination,
            d.strides, d.dilations, d.padding,  d.padding, attr};
  }
  return {cpu(),         d.kind,    kAlgorithm,  d.source,  d.weights, *d.bias,
          d.destination, d.strides, d.dilations, d.padding, d.padding, attr};
}

dnnl::convolution_backward_data::primitive_desc conv_input_gradient_desc(
    const ConvDescs& d, const dnnl::convolution_forward::primitive_desc& forward,
    const dnnl::primitive_attr& attr) {
  return {cpu(),         dnnl::algorithm::convolution_direct,
          d.source,      d.weights,
          d.destination, d.strides,
          d.dilations,   d.padding,
          d.padding,     forward,
          attr};
}

dnnl::pooling_forward::primitive_desc max_pool_desc(const PoolDescs& d,
                                                    const dnnl::primitive_attr& attr) {
  const Dims dense(d.kernel.size(), 0);
  return {cpu(),
          dnnl::prop_kind::forward_inference,
          dnnl::algorithm::pooling_max,
          d.source,
          d.destination,
          d.strides,
          d.kernel,
          dense,
          d.padding,
          d.padding,
          attr};
}

#else  // version 2: a descriptor of the operation comes first

dnnl::matmul::primitive_desc matmul_desc(const Desc& source, const Desc& weights, const Desc* bias,
                                         const Desc& destination,
                                         const dnnl::primitive_attr& attr) {
  if (bias == nullptr) return {{source, weights, destination}, attr, cpu()};
  return {{source, weights, *bias, destination}, attr, cpu()};
}

dnnl::convolution_forward::primitive_desc conv_forward_desc(const ConvDescs& d,
                                                            const dnnl::primitive_attr& attr) {
  constexpr auto kAlgorithm = dnnl::algorithm::convolution_direct;
  if (d.bias == nullptr) {
    return {{d.kind, kAlgorithm, d.source, d.weights, d.destination, d.strides, d.dilations,
             d.padding, d.padding},
            attr,
            cpu()};
  }
  return {{d.kind, kAlgorithm, d.source, d.weights, *d.bias, d.destination, d.strides, d.dilations,
           d.padding, d.padding},
          attr,
          cpu()};
}

dnnl::convolution_backward_data::primitive_desc conv_input_gradient_desc(
    const ConvDescs& d, const dnnl::convolution_forward::primitive_desc& forward,
    const dnnl::primitive_attr& attr) {
  return {{dnnl::algorithm::convolution_direct, d.source, d.weights, d.destination, d.strides,
           d.dilations, d.padding, d.padding},
          attr,
          cpu(),
          forward};
}

dnnl::pooling_forward::primitive_desc max_pool_desc(const PoolDescs& d,
                                                    const dnnl::primitive_attr& attr) {
  return {{dnnl::prop_kind::forward_inference, dnnl::algorithm::pooling_max, d.source,
           d.destination, d.strides, d.kernel, d.padding, d.padding},
          attr,
          cpu()};
}

#endif

}  // namespace fovea::onednn
