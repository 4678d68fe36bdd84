// safetensors files (github.com/huggingface/safetensors): 8 bytes header length, a JSON header, and
// the tensors' bytes without gaps. A file that opens has been checked whole.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fovea/base/file.h"
#include "fovea/io/named_tensor.h"

namespace fovea {

// Free text about the whole file, in the order of the file.
using Metadata = std::vector<std::pair<std::string, std::string>>;

// Copies share the mapping. All const members may be called from any thread.
class SafetensorsFile {
 public:
  struct Entry {
    std::string name;
    DType dtype = DType::kF32;
    Shape shape;
    uint64_t begin = 0;  // byte range, counted from the end of the header
    uint64_t end = 0;
  };

  // Throws Error{kBadFile} unless header, types, shapes and byte ranges all fit together, and
  // Error{kUnsupported} for a type that fovea does not have (F8 and others).
  static SafetensorsFile open(const std::filesystem::path& path);
  // As open, for bytes in memory; messages begin with `source`. Without `keep_alive` tensors are
  // copies, and `bytes` must outlive the object.
  static SafetensorsFile parse(Bytes bytes, std::string_view source,
                               std::shared_ptr<const void> keep_alive = nullptr);

  const Metadata& metadata() const { return metadata_; }
  // nullptr if there is no such key.
  const std::string* find_metadata(std::string_view key) const;

  const std::vector<Entry>& entries() const { return entries_; }  // in the order of the header
  std::vector<std::string> names() const;
  // nullptr if there is no such tensor.
  const Entry* find(std::string_view name) const;
  // The file's own bytes, kept mapped while the tensor lives; a copy if they are not aligned for
  // their type. Throws Error{kNotFound}.
  Tensor tensor(std::string_view name) const;
  Tensor tensor(const Entry& entry) const;

 private:
  SafetensorsFile() = default;
  void read_header(Bytes header);
  void check_coverage() const;
  void build_index();

  std::string source_;
  std::shared_ptr<const void> keep_alive_;
  Bytes data_;
  Metadata metadata_;
  std::vector<Entry> entries_;
  std::vector<uint32_t> by_name_;  // into entries_, sorted
};

// Writes atomically. Tensors are laid out by falling element size, then name, so that each is
// aligned for its type in a mapped file; equal input gives equal bytes. Throws
// Error{kInvalidArgument} on a name that appears twice, is "__metadata__" or is not UTF-8.
void write_safetensors(const std::filesystem::path& path, std::span<const NamedTensor> tensors,
                       const Metadata& metadata = {});

// A tensor that is made while the file is written, so that it never has to fit in memory.
struct StreamedTensor {
  std::string name;
  DType dtype = DType::kF32;
  Shape shape;
  std::function<void(FileWriter&)> write;  // exactly the tensor's bytes, in order

  uint64_t bytes() const { return static_cast<uint64_t>(shape.elements()) * dtype_bytes(dtype); }
};
// As write_safetensors. Throws Error{kInternal} if a tensor writes another number of bytes.
void stream_safetensors(const std::filesystem::path& path, std::span<const StreamedTensor> tensors,
                        const Metadata& metadata = {});

}  // namespace fovea
