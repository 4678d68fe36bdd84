// Weights spread over several files, as model.safetensors.index.json and
// pytorch_model.bin.index.json list them.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>

#include "fovea/checkpoint/weight_source.h"

namespace fovea {

// Opens one shard.
using ShardOpener =
    std::function<std::shared_ptr<const WeightSource>(const std::filesystem::path& path)>;

// The tensors that the index lists, from shards beside it. Throws Error{kBadFile} if the index is
// not one, names a file outside its folder, or lists a tensor that the shard does not hold, and
// Error{kNotFound} with how many of the shards are missing.
std::shared_ptr<const WeightSource> open_sharded_weights(const std::filesystem::path& index,
                                                         const ShardOpener& open);

}  // namespace fovea
