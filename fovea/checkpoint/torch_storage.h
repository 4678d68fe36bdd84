// The raw storages behind the tensors of a PyTorch file, in both layouts that torch.save has had.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "fovea/checkpoint/pickle.h"
#include "fovea/io/zip.h"
#include "fovea/tensor/dtype.h"

namespace fovea {

// What a pickle says about a storage: ('storage', class, key, device, elements[, view]).
struct TorchStorageId {
  std::string_view key;
  std::optional<DType> dtype;  // none: bytes, whose type the tensor tells
  int64_t elements = 0;
  int64_t view_offset = 0;  // elements, within the storage of that key
  int64_t view_elements = 0;
};

// Throws Error{kBadFile} if the node is no storage's id and Error{kUnsupported} for a class of
// elements that fovea does not have.
TorchStorageId read_storage_id(const PickleNode& node, std::string_view source);

// The functions and classes that a file of tensors mentions.
std::span<const std::string_view> torch_globals();
// "torch.int64" -> kI64; none for types that fovea does not have.
std::optional<DType> find_torch_dtype(std::string_view global);

// A pickle and the storages that it names. All const members may be called from any thread.
class TorchContainer {
 public:
  virtual ~TorchContainer() = default;
  const Pickle& pickle() const { return *pickle_; }
  // Size in bytes; none if there is no such storage.
  virtual std::optional<uint64_t> find(std::string_view key) const = 0;
  // The storage must be there. Throws Error{kBadFile} if its checksum is wrong.
  virtual SharedBytes read(std::string_view key) const = 0;

  // Tells the layout by its first bytes. Throws Error{kBadFile}, or Error{kUnsupported} for
  // TorchScript, big-endian and very old files.
  static std::unique_ptr<TorchContainer> parse(Bytes bytes, std::string_view source,
                                               std::shared_ptr<const void> keep_alive);

 protected:
  std::optional<Pickle> pickle_;
};

}  // namespace fovea
