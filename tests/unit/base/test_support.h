// What tests of several folders need: expecting an Error, and a folder that vanishes.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>  // mkdtemp is POSIX, not in <cstdlib>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/base/error.h"
#include "fovea/base/file.h"

namespace fovea {

// Whether `work` throws Error{kind} with `part` in its message, which must be one line.
template <typename Work>
::testing::AssertionResult fails_with(ErrorKind kind, std::string_view part, Work&& work) {
  try {
    work();
  } catch (const Error& error) {
    const std::string_view message = error.what();
    if (error.kind() != kind) {
      return ::testing::AssertionFailure()
             << "kind " << static_cast<int>(error.kind()) << " with '" << message << "'";
    }
    if (message.find(part) == message.npos) {
      return ::testing::AssertionFailure() << "'" << message << "' does not say '" << part << "'";
    }
    if (message.empty() || message.find('\n') != message.npos || message.size() > 1000) {
      return ::testing::AssertionFailure() << "not one line: '" << message << "'";
    }
    return ::testing::AssertionSuccess();
  }
  return ::testing::AssertionFailure() << "nothing was thrown";
}

// As above where any kind of Error will do.
template <typename Work>
::testing::AssertionResult fails_cleanly(Work&& work) {
  try {
    work();
  } catch (const Error& error) {
    return fails_with(error.kind(), "", [&] { throw error; });
  }
  return ::testing::AssertionFailure() << "nothing was thrown";
}

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
