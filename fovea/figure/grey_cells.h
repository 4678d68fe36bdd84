// Columns of a short map that take weight whatever the row says: special tokens, and a sink at the
// first position. They stay at their place but leave the colours, whose scale then ends at the
// largest weight to a word.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fovea/capture/run.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

struct GreyCells {
  std::vector<int64_t> columns;  // rising
  double share = 0;              // of all weight in the map
};

// `cols` are those of the map. `first_here`: column 0 is the first position of the text, which is a
// sink if its mean weight is 0.3 or more and twice what even attention would give it. None are grey
// where nothing else would be left.
GreyCells grey_cells(const Tensor& weights, const Axis& cols, bool first_here);

// The weights of all other columns.
void append_colored(const Tensor& weights, const GreyCells& grey, std::vector<float>& values);

// What columns are called: "[CLS], [SEP]", "token 0", "special tokens" where they are many.
std::string grey_names(const Axis& cols, const std::vector<int64_t>& columns);

// " · grey: [CLS], [SEP], which take 49 % of all weight, on a scale of their own"; of several maps
// "39 to 91 %". Empty where no share is above 0.
std::string grey_cells_note(const std::string& names, const std::vector<double>& shares);

}  // namespace fovea
