#include "fovea/webfiles/files.h"

#include <algorithm>

namespace fovea {

const WebFile* find_web_file(std::string_view path) {
  const auto files = web_files();
  const auto found = std::ranges::find(files, path, &WebFile::path);
  return found == files.end() ? nullptr : &*found;
}

}  // namespace fovea
