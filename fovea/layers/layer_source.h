// What layers are made from: a view of the weights, and the type to compute their products in.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "fovea/checkpoint/config.h"
#include "fovea/checkpoint/weights.h"
#include "fovea/ops/linear.h"

namespace fovea {

struct LayerSource {
  Weights weights;
  DType compute = DType::kF32;

  LayerSource operator[](std::string_view part) const { return {weights[part], compute}; }
  LayerSource operator[](int64_t index) const { return {weights[index], compute}; }
  // As Weights does.
  LayerSource below_one_of(std::initializer_list<std::string_view> prefixes,
                           std::string_view probe) const {
    return {weights.below_one_of(prefixes, probe), compute};
  }
  LayerSource renamed(std::span<const Rename> table) const {
    return {weights.renamed(table), compute};
  }
};

// Loads "weight" [out, in] and, if the layer has one, "bias" [out].
ops::Linear load_linear(const LayerSource& source, int64_t in, int64_t out, bool bias = true);

// Several layers whose rows lie one below the other in one matrix: of `outs` rows each. Nothing is
// copied.
std::vector<ops::Linear> load_linears(const LayerSource& source, int64_t in,
                                      const std::vector<int64_t>& outs, bool bias = true);

// The same for GPT-2's "Conv1D", which stores its matrix as [in, out].
ops::Linear load_conv1d(const LayerSource& source, int64_t in, int64_t out);

// A table [entries, width] as the file stores it: rows are unpacked when they are used.
StoredMatrix load_table(const LayerSource& source, int64_t entries, int64_t width);

// Loads a vector as f32.
Tensor load_vector(const LayerSource& source, std::string_view name, int64_t size);

// The number of layers in config.json, under `key`. Throws Error{kBadFile} above 4096, before
// anything is allocated for a number that no model has.
int64_t layer_count(const Config& config, std::string_view key = "num_hidden_layers");

// A number above 0 and at most 1e9. Throws Error{kBadFile} otherwise.
double positive_number(const Config& config, std::string_view key);
double positive_number(const Config& config, std::string_view key, double otherwise);

// The activation that config.json names: "gelu", "gelu_new", "silu". Throws Error{kUnsupported}.
Activation activation_named(const Config& config, std::string_view key, std::string_view otherwise);
// The same, if `name` is only a part of the value under `key`.
Activation activation_called(const Config& config, std::string_view key, std::string_view name);

}  // namespace fovea
