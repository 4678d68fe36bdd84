// GGUF files that llama.cpp has split: "model-00001-of-00003.gguf" and its siblings.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/checkpoint/gguf_metadata.h"

namespace fovea {

// Names of all parts, in order, of which `name` is one; empty if it is not called so.
std::vector<std::string> gguf_part_names(std::string_view name);

// All files of the model that `path` is a part of; `path` alone if it is whole. Throws
// Error{kNotFound} with the name of a part that is missing.
std::vector<std::filesystem::path> gguf_part_files(const std::filesystem::path& path);

// The folder's only GGUF file, of several parts the first; empty if there is none or more.
std::filesystem::path find_gguf_file(const std::filesystem::path& folder);

// Throws Error{kBadFile} unless the file says that it is part `index` of as many as its name does.
void check_gguf_part(const GgufMetadata& metadata, size_t index, const std::filesystem::path& file);

}  // namespace fovea
