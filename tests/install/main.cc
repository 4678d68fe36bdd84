// Four vectors attend to each other, each to itself and to those before it; no 4 x 4 matrix is
// made.
#include <fmt/format.h>

#include <memory>
#include <vector>

#include "fovea/atlas/attention_map.h"

int main() {
  fovea::AttentionRecord record;
  const std::vector<float> queries = {1, 0, 0, 1, 1, 1, 0, 3};
  const std::vector<float> keys = {1, 0, 0, 1, 1, -1, -1, 0};
  record.queries = fovea::Tensor::from({1, 4, 2}, queries);  // [heads, rows, head_dim]
  record.keys = fovea::Tensor::from({1, 4, 2}, keys);
  record.values = record.keys;
  record.rule = {.scale = 0.7071F, .mask = fovea::Mask::causal()};

  fovea::Tensor output({1, 4, 2});
  record.lse = fovea::Tensor({1, 4}, fovea::DType::kF64);
  fovea::attention(fovea::inputs_of(record), fovea::MutableHeadsView::of(output),
                   record.lse.mutable_values<double>());

  const fovea::AttentionMap map(std::make_shared<const fovea::AttentionRecord>(record), /*head=*/0);
  for (const auto& [column, weight] : map.row_top(3, 2)) {
    fmt::print("row 3 gives {:.3f} of its attention to column {}\n", weight, column);
  }
}
