// Where the files of tests/data are.
#pragma once

#include <filesystem>

namespace fovea {

// A file or folder of tests/data; "../.." is the checkout. Its place is known to one file only
// (main.cc), so that the objects of all others are the same wherever the checkout is.
std::filesystem::path test_data(const std::filesystem::path& name = "");

}  // namespace fovea
