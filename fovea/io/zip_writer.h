// Writing zip archives, entry after entry, without compression.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/base/file.h"
#include "fovea/io/zip_format.h"

namespace fovea {

// The archive must begin where the file does. Contents begin on 64-byte boundaries, so that a
// mapped archive can be read in place, and timestamps are 1980-01-01, so that equal input gives
// equal bytes.
class ZipWriter {
 public:
  // Sizes and offsets from `zip64_from` on are written as zip64; only tests lower it.
  explicit ZipWriter(FileWriter& file, uint64_t zip64_from = kZip32Full)
      : file_(file), zip64_from_(zip64_from) {}

  // Writes an entry whose contents are `parts` one after the other. Throws Error{kInvalidArgument}
  // on a name that is empty, too long or not UTF-8. The caller sees to it that names differ.
  void add(std::string_view name, std::span<const Bytes> parts);
  // Writes the directory; nothing may be added after it.
  void finish();

 private:
  struct Record {
    std::string name;
    uint64_t size;
    uint64_t offset;
    uint32_t crc32;
  };
  std::string local_header(const Record& record) const;
  std::string central_record(const Record& record) const;
  bool full(uint64_t value) const { return value >= zip64_from_; }

  FileWriter& file_;
  uint64_t zip64_from_;
  std::vector<Record> records_;
};

}  // namespace fovea
