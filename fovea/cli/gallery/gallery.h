// The gallery of `fovea demo`: pictures that other verbs make, and a page that explains them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace fovea {

struct GalleryReport {
  int pictures = 0;
  std::vector<std::string> missing;  // what could not be made, and what it needs
};

// Runs the command of every picture whose model is at hand and writes `folder`/index.html. The same
// program, models and folder give the same bytes.
GalleryReport make_gallery(const std::filesystem::path& folder);

}  // namespace fovea
