// The files of examples/, built into the program so that it needs no folder beside it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fovea {

struct Example {
  std::string name;  // "four_words.json"
  std::string_view text;
};

// Made from the folder by CMake.
std::vector<Example> all_examples();

}  // namespace fovea
