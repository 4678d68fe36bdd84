// A picture as whoever asks has it: files are opened by the front end.
#pragma once

#include <string>

namespace fovea {

struct PictureBytes {
  std::string bytes;                 // of the file
  std::string name = "the picture";  // in errors
};

}  // namespace fovea
