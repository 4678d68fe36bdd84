// Weights in one safetensors or PyTorch file.
#pragma once

#include <filesystem>
#include <memory>

#include "fovea/checkpoint/weight_source.h"

namespace fovea {

// Tensors borrow the mapped file. Throws as SafetensorsFile::open does.
std::shared_ptr<const WeightSource> open_safetensors_weights(const std::filesystem::path& path);
// Contiguous tensors borrow the mapped file. Throws as TorchFile::open does.
std::shared_ptr<const WeightSource> open_torch_weights(const std::filesystem::path& path);

}  // namespace fovea
