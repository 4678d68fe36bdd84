// The gallery of `fovea demo`: questions about inputs, answered with pictures, and a page that
// explains them.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace fovea {

// A model that is not at hand, and the pictures that need it.
struct MissingModel {
  std::string name;
  std::vector<std::string> files;
};

struct GalleryReport {
  int pictures = 0;
  std::vector<MissingModel> missing;
  std::vector<std::string> next;  // commands to try, as one would type them
};

// Makes every picture whose model is at hand and writes `folder`/index.html. The same program,
// models and folder, called the same way, give the same bytes.
GalleryReport make_gallery(const std::filesystem::path& folder);

// "1-heads.png and 1-head.png need the model NAME, which is not here".
std::string missing_text(const MissingModel& missing);

}  // namespace fovea
