// Arrays of attention weights in files that other programs, or fovea's exports, wrote.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fovea/base/file.h"
#include "fovea/io/named_tensor.h"

namespace fovea {

struct ArrayFile {
  std::vector<NamedTensor> arrays;  // those that are meant; the one of a .npy has no name
  // What fovea's own files say beside them; empty in others.
  std::string model;
  std::string model_hash;
  std::map<std::string, std::vector<std::string>, std::less<>> labels;  // of an axis, by its name
  struct AxisNames {
    std::string rows;
    std::string cols;
  };
  std::map<std::string, AxisNames, std::less<>> axes;  // of an array, by its name
};

// What the axes of a file are called that holds one map with labels of its own.
inline constexpr std::string_view kRowLabels = "rows";
inline constexpr std::string_view kColLabels = "cols";

// Whether the name is one of an array file: .npy or .npz. A .safetensors may hold much else.
bool is_array_name(const std::filesystem::path& path);

// Reads .npy, .npz or .safetensors: the array called `chosen`, else those that are named as sites
// are (self.0), else the only one. Arrays stay mapped, except those that are deflated or in Fortran
// order. Throws what the readers throw, Error{kNotFound} for another `chosen`, and
// Error{kBadFile} about the field "array" where nobody can tell which is meant.
ArrayFile read_array_file(const std::filesystem::path& path,
                          const std::optional<std::string>& chosen = {});

// The same of bytes in memory; `name` begins messages, and `suffix` says which of the three they
// are. Without `keep_alive` arrays are copies.
ArrayFile parse_array_file(Bytes bytes, const std::string& name, std::string_view suffix,
                           std::shared_ptr<const void> keep_alive,
                           const std::optional<std::string>& chosen = {});

// The labels in a file, one a line; of a .json file a list of strings. Throws Error{kBadFile}.
std::vector<std::string> read_labels(const std::filesystem::path& path);

}  // namespace fovea
