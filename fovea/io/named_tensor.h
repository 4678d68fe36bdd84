// A tensor and what it is called in a file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fovea/tensor/tensor.h"

namespace fovea {

struct NamedTensor {
  std::string name;
  Tensor tensor;
};

// Throws Error{kInvalidArgument}, naming the file `source`, if two of what it holds, "tensors" say,
// have the same name or one is not UTF-8.
void check_names(std::vector<std::string_view> names, std::string_view what,
                 std::string_view source);

}  // namespace fovea
