// Reading zip archives, as npz and PyTorch's .bin files are: APPNOTE.TXT 6.3.3, stored and deflated
// entries, zip64.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/base/file.h"

namespace fovea {

// Bytes and what keeps them alive (null: the caller of ZipReader::parse does).
struct SharedBytes {
  Bytes bytes;
  std::shared_ptr<const void> keep_alive;
};

struct ZipEntry {
  std::string name;
  bool stored = true;  // otherwise deflated
  uint64_t size = 0;
  uint64_t compressed_size = 0;
  uint32_t crc32 = 0;
  uint64_t data_offset = 0;  // of the compressed bytes, from the beginning of the archive
};

// Copies share the mapping. All const members may be called from any thread.
class ZipReader {
 public:
  // Checks the whole structure: directory, names, methods, that entries lie within the file and
  // apart, and that sizes are such as deflate can give. Throws Error{kBadFile}, or
  // Error{kUnsupported} for encryption, several disks and other methods.
  static ZipReader open(const std::filesystem::path& path);
  // As open, for bytes in memory, which must outlive the object unless `keep_alive` holds them.
  static ZipReader parse(Bytes bytes, std::string_view source,
                         std::shared_ptr<const void> keep_alive = nullptr);

  const std::vector<ZipEntry>& entries() const { return entries_; }  // in the directory's order
  // nullptr if there is no such entry.
  const ZipEntry* find(std::string_view name) const;
  // The entry's contents with their checksum checked: a view of the archive if they are stored, new
  // memory if deflated. Throws Error{kBadFile} if they are damaged or larger than `limit` bytes.
  SharedBytes read(const ZipEntry& entry, uint64_t limit) const;

 private:
  ZipReader() = default;
  void read_directory();
  void check_apart() const;
  void build_index();

  std::string source_;
  std::shared_ptr<const void> keep_alive_;
  Bytes bytes_;
  std::vector<ZipEntry> entries_;
  std::vector<uint32_t> by_name_;  // into entries_, sorted
};

}  // namespace fovea
