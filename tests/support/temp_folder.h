// A folder that vanishes, and files to put there.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>  // mkdtemp is POSIX, not in <cstdlib>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/base/file.h"

namespace fovea {

// A new, empty folder, removed with all that is in it when the object dies.
class TempFolder {
 public:
  TempFolder() {
    std::string name = ::testing::TempDir() + "/fovea.XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) ADD_FAILURE() << "no temporary folder " << name;
    path_ = name;
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }
  // The names of all that is in it.
  std::vector<std::string> list() const {
    std::vector<std::string> names;
    for (const auto& item : std::filesystem::directory_iterator(path_)) {
      names.push_back(item.path().filename().string());
    }
    return names;
  }

 private:
  std::filesystem::path path_;
};

inline void write_text(const std::filesystem::path& path, std::string_view text) {
  write_file_atomic(path, [&](FileWriter& file) { file.write(text); });
}

}  // namespace fovea
