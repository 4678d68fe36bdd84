// A picture file in memory: the front end opens files.
#pragma once

#include <string>

namespace fovea {

struct PictureBytes {
  std::string bytes;                 // the file's bytes
  std::string name = "the picture";  // in errors
};

}  // namespace fovea
