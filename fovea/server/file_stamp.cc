#include "fovea/server/file_stamp.h"

#include <sys/stat.h>

#include "fovea/base/error.h"

namespace fovea {

FileStamp stamp_of(const std::filesystem::path& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) return {.file = file};
  constexpr int64_t kBillion = 1'000'000'000;
  return {.file = file,
          .size = static_cast<uint64_t>(status.st_size),
          .changed = status.st_mtim.tv_sec * kBillion + status.st_mtim.tv_nsec,
          .number = status.st_ino};
}

std::vector<FileStamp> stamps_of(const Engine& engine) {
  std::vector<FileStamp> stamps;
  for (const std::string& file : engine.checkpoint().weights.files()) {
    stamps.push_back(stamp_of(file));
  }
  return stamps;
}

void check_untouched(const std::vector<FileStamp>& stamps) {
  for (const FileStamp& stamp : stamps) {
    const FileStamp now = stamp_of(stamp.file);
    if (now == stamp || now.number != stamp.number) continue;
    fail(ErrorKind::kBadFile, "{} was written to while it was open; its run cannot be trusted",
         stamp.file.filename().string());
  }
}

}  // namespace fovea
