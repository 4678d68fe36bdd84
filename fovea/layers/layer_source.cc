#include "fovea/layers/layer_source.h"

#include <array>
#include <numeric>
#include <utility>

#include "fovea/base/error.h"
#include "fovea/ops/slice.h"

namespace fovea {

ops::Linear load_linear(const LayerSource& source, int64_t in, int64_t out, bool bias) {
  return ops::Linear(source.weights.matrix("weight", {out, in}),
                     bias ? source.weights.tensor("bias", {out}) : Tensor(), source.compute);
}

std::vector<ops::Linear> load_linears(const LayerSource& source, int64_t in,
                                      const std::vector<int64_t>& outs, bool bias) {
  const int64_t out = std::accumulate(outs.begin(), outs.end(), int64_t{0});
  const StoredMatrix weight = source.weights.matrix("weight", {out, in});
  const Tensor biases = bias ? load_vector(source, "bias", out) : Tensor();
  std::vector<ops::Linear> linears;
  int64_t begin = 0;
  for (const int64_t rows : outs) {
    linears.emplace_back(weight.rows_between(begin, begin + rows),
                         bias ? ops::slice(biases, 0, begin, begin + rows).tensor : Tensor(),
                         source.compute);
    begin += rows;
  }
  return linears;
}

ops::Linear load_conv1d(const LayerSource& source, int64_t in, int64_t out) {
  return ops::Linear(source.weights.matrix("weight", {in, out}),
                     source.weights.tensor("bias", {out}), source.compute, WeightLayout::kInOut);
}

StoredMatrix load_table(const LayerSource& source, int64_t entries, int64_t width) {
  return source.weights.matrix("weight", {entries, width});
}

Tensor load_vector(const LayerSource& source, std::string_view name, int64_t size) {
  return source.weights.tensor(name, {size}, DType::kF32);
}

int64_t layer_count(const Config& config, std::string_view key) {
  constexpr int64_t kMostLayers = 4096;
  const int64_t layers = config.get_size(key);
  if (layers > kMostLayers) {
    fail(ErrorKind::kBadFile, "{}: {} is {} but no model has more than {}; is the file damaged?",
         config.source(), key, layers, kMostLayers);
  }
  return layers;
}

double positive_number(const Config& config, std::string_view key) {
  constexpr double kLargest = 1e9;
  const double number = config.get_double(key);
  if (!(number > 0 && number <= kLargest)) {
    fail(ErrorKind::kBadFile, "{}: {} is {} but must be above 0 and at most {:.0e}",
         config.source(), key, number, kLargest);
  }
  return number;
}

double positive_number(const Config& config, std::string_view key, double otherwise) {
  return config.has(key) ? positive_number(config, key) : otherwise;
}

Activation activation_named(const Config& config, std::string_view key,
                            std::string_view otherwise) {
  return activation_called(config, key, config.get_string(key, otherwise));
}

Activation activation_called(const Config& config, std::string_view key, std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, Activation>, 12> kNames{
      {{"gelu", Activation::kGelu},
       {"gelu_python", Activation::kGelu},
       {"gelu_new", Activation::kGeluTanh},
       {"gelu_fast", Activation::kGeluTanh},
       {"gelu_pytorch_tanh", Activation::kGeluTanh},
       {"quick_gelu", Activation::kQuickGelu},
       {"relu", Activation::kRelu},
       {"silu", Activation::kSilu},
       {"swish", Activation::kSilu},
       {"sigmoid", Activation::kSigmoid},
       {"tanh", Activation::kTanh},
       {"linear", Activation::kNone}}};
  for (const auto& [known, activation] : kNames) {
    if (known == name) return activation;
  }
  fail(ErrorKind::kUnsupported,
       "{}: '{}' is '{}', an activation that fovea does not have; it has gelu, gelu_new, "
       "gelu_pytorch_tanh, quick_gelu, relu, silu, sigmoid, tanh and linear",
       config.source(), key, name);
}

}  // namespace fovea
