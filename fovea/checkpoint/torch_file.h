// PyTorch's .bin, .pt and .pth files: the tensors of a saved state_dict, read without Python and
// without running anything (pickle.h).
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fovea/base/file.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

class TorchContainer;

// Copies share the mapping. All const members may be called from any thread.
class TorchFile {
 public:
  struct Entry {
    std::string name;
    DType dtype = DType::kF32;
    Shape shape;
    std::string storage;  // its key; tensors may share one
    uint64_t offset = 0;  // elements from the storage's beginning
    std::vector<int64_t> strides;
  };

  // Reads the zip format and the older stream format. If the object on top holds no tensors, its
  // members 'model_state_dict', 'state_dict' and 'model' are looked into; dicts within dicts give
  // names with dots. Every tensor has been checked against its storage. Throws
  // Error{kUnsupported} naming whatever is not plain data, and Error{kBadFile}.
  static TorchFile open(const std::filesystem::path& path);
  // As open, for bytes in memory, which must outlive the object unless `keep_alive` holds them.
  // Without `keep_alive` tensors are copies.
  static TorchFile parse(Bytes bytes, std::string_view source,
                         std::shared_ptr<const void> keep_alive = nullptr);

  const std::vector<Entry>& entries() const { return entries_; }
  const std::string& source() const { return source_; }
  // The whole numbers of a dict that stands on top beside the weights, under that name; empty if
  // there is none.
  std::vector<std::pair<std::string, int64_t>> numbers(std::string_view member) const;
  // Borrows the file where the tensor is contiguous and aligned, otherwise a copy in row-major
  // order. Throws Error{kBadFile} if the storage's checksum is wrong.
  Tensor tensor(const Entry& entry) const;

 private:
  TorchFile() = default;
  void read_entries();

  std::string source_;
  std::shared_ptr<const TorchContainer> container_;
  std::vector<Entry> entries_;
};

}  // namespace fovea
