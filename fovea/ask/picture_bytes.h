// A picture file in memory: the front end opens files.
#pragma once

#include <string>

namespace fovea {

struct PictureBytes {
  std::string bytes;                 // of the file
  std::string name = "the picture";  // in errors
};

}  // namespace fovea
