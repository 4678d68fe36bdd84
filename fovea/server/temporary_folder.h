// A folder for files of a moment.
#pragma once

#include <filesystem>

namespace fovea {

// Gone with the object.
class TemporaryFolder {
 public:
  // Below $TMPDIR or /tmp. Throws Error{kIo}.
  TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace fovea
