// numpy's .npz files: a zip archive with one .npy file per array.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/io/named_tensor.h"
#include "fovea/io/zip.h"

namespace fovea {

// Opening reads the directory only; an array is read when it is asked for. Copies share the
// mapping, and all const members may be called from any thread.
class NpzFile {
 public:
  // The most bytes that one array may unpack to.
  static constexpr uint64_t kDefaultLimit = uint64_t{16} << 30;

  // Throws as ZipReader::open does.
  static NpzFile open(const std::filesystem::path& path, uint64_t limit = kDefaultLimit);
  // As open, for bytes in memory. Without `keep_alive` tensors are copies, and `bytes` must outlive
  // the object.
  static NpzFile parse(Bytes bytes, std::string_view source,
                       std::shared_ptr<const void> keep_alive = nullptr,
                       uint64_t limit = kDefaultLimit);

  // Without the ".npy" of the archive; other entries are left out.
  const std::vector<std::string>& names() const { return names_; }
  bool contains(std::string_view name) const;
  // Whether it holds texts, which tensor() does not read.
  bool is_of_texts(std::string_view name) const;
  // Stored arrays borrow the mapped file where they are aligned. Throws Error{kNotFound}, and what
  // ZipReader::read and parse_npy throw.
  Tensor tensor(std::string_view name) const;

 private:
  NpzFile(ZipReader zip, std::string_view source, uint64_t limit);

  ZipReader zip_;
  std::string source_;
  uint64_t limit_;
  std::vector<std::string> names_;
};

// Texts and what they are called; one alone is an array without axes, as numpy.array("text") is.
struct NamedTexts {
  std::string name;
  std::vector<std::string> texts;
  bool alone = false;
};

// Writes atomically, in the given order and without compression; equal input gives equal bytes.
// Throws Error{kInvalidArgument} on a name that is empty, appears twice or is not UTF-8, and
// Error{kUnsupported} for BF16, which numpy does not have.
// Texts follow the tensors; numpy reads them as an array of str, without pickles.
void write_npz(const std::filesystem::path& path, std::span<const NamedTensor> tensors,
               std::span<const NamedTexts> texts = {});

}  // namespace fovea
