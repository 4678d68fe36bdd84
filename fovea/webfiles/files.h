// The files of the page that the server shows, as the build made them: every file of app/, which is
// made from web/ and kept in the program. web/README.md says how.
#pragma once

#include <cstddef>
#include <span>

#include <string_view>

namespace fovea {

struct WebFile {
  std::string_view path;  // "index.html", "assets/app.js"
  bool is_gzip = false;   // kept as app.js.gz, which browsers unpack
  std::span<const std::byte> bytes;
};

// In the order of their paths.
std::span<const WebFile> web_files();
// Null if there is none.
const WebFile* find_web_file(std::string_view path);

}  // namespace fovea
