// Heads over relative offsets, as a figure and as numbers.
#pragma once

#include <string>
#include <vector>

#include "fovea/cli/show.h"
#include "fovea/explain/pictures/offset_kernel.h"

namespace fovea {

struct NamedKernel {
  std::string title;  // "head 3"
  OffsetKernel kernel;
};

// `more` is added to the JSON.
Content kernels_content(const std::vector<NamedKernel>& kernels, int64_t across, FigureText text,
                        const std::vector<Json::Member>& more);

}  // namespace fovea
