// Whether a file that is mapped is still what it was. One that is cut short under a mapping takes
// the whole program with it when it is read, so somebody looks before.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "fovea/engine/engine.h"

namespace fovea {

struct FileStamp {
  std::filesystem::path file;
  uint64_t size = 0;
  int64_t changed = 0;  // when, in nanoseconds
  uint64_t number = 0;  // of the file on its disk; 0: it is gone

  bool operator==(const FileStamp&) const = default;
};

FileStamp stamp_of(const std::filesystem::path& file);
// Of all files of a model's weights.
std::vector<FileStamp> stamps_of(const Engine& engine);

// Throws Error{kBadFile} if a file was written to. One that was removed, or replaced by another
// file of its name, is still there for those who have it open.
void check_untouched(const std::vector<FileStamp>& stamps);

}  // namespace fovea
