// Reads, maps and writes files. A reader sees the old file or the new one, never a part of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace fovea {

using Bytes = std::span<const std::byte>;

inline Bytes as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}
inline std::string_view as_text(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// A file's bytes, mapped read-only and shared by all who hold the pointer. The file must not be
// cut short while it is mapped.
class MappedFile {
 public:
  // Throws Error{kNotFound} or Error{kIo}. An empty file maps to zero bytes.
  static std::shared_ptr<const MappedFile> open(const std::filesystem::path& path);

  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  Bytes bytes() const { return bytes_; }
  const std::filesystem::path& path() const { return path_; }

 private:
  MappedFile(std::filesystem::path path, Bytes bytes);
  std::filesystem::path path_;
  Bytes bytes_;
};

// Whether there is such a file or folder, and we are allowed to look at it.
bool file_exists(const std::filesystem::path& path);
bool is_folder(const std::filesystem::path& path);
// The ending of a name in lower case: ".png" for "a.PNG".
std::string lower_suffix(const std::filesystem::path& path);

// Whether all of `bytes` lie in one mapped file.
bool is_mapped(Bytes bytes);
// Takes whole pages of a mapped file out of memory; whoever reads them again gets them from the
// file. Does nothing to other bytes.
void let_pages_go(Bytes bytes);

// Reads a whole file as text. `limit` bounds what is allocated. Throws as MappedFile::open does,
// and Error{kBadFile} above the limit.
std::string read_text_file(const std::filesystem::path& path, size_t limit = size_t{1} << 30);

// Where write_file_atomic's callback puts its bytes, in order.
class FileWriter {
 public:
  void write(Bytes bytes);  // throws Error{kIo}
  void write(std::string_view text) { write(as_bytes(text)); }
  uint64_t position() const { return position_; }

 private:
  friend void write_file_atomic(const std::filesystem::path&,
                                const std::function<void(FileWriter&)>&);
  FileWriter(int descriptor, const std::filesystem::path& path)
      : descriptor_(descriptor), path_(path) {}
  void write_raw(Bytes bytes);
  void flush();
  int descriptor_;
  const std::filesystem::path& path_;
  uint64_t position_ = 0;
  std::string buffer_;
};

// Writes beside `path` and renames at the end. If anything throws, `path` is as it was before.
// A path that is not a regular file (a pipe, /dev/stdout) is written directly.
void write_file_atomic(const std::filesystem::path& path,
                       const std::function<void(FileWriter&)>& write);

}  // namespace fovea
