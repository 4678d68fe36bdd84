#include "fovea/server/temporary_folder.h"

#include <cstdlib>
#include <string>

#include "fovea/base/error.h"

namespace fovea {

TemporaryFolder::TemporaryFolder() {
  std::error_code error;
  std::filesystem::path base = std::filesystem::temp_directory_path(error);
  if (error) base = ".";
  std::string name = (base / "fovea-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) {
    fail(ErrorKind::kIo, "{}: no temporary folder can be made there", base.string());
  }
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace fovea
