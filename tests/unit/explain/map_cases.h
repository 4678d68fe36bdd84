// Attentions under every mask that models have, for methods that read whole maps, and those maps
// dense and in double.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fovea/capture/run.h"
#include "support/records.h"

namespace fovea::support {

// 37 positions, more than one block of rows of neither a power of two; 4 heads that share 2 keys.
inline std::vector<AttentionCase> masked_cases() {
  constexpr int64_t kLength = 37;
  std::vector<AttentionCase> cases(7);
  for (size_t i = 0; i < cases.size(); ++i) {
    AttentionCase& c = cases[i];
    std::mt19937 random(static_cast<uint32_t>(70 + i));
    const int64_t rows = i == 6 ? 11 : kLength;
    c.shape = {4, 2, rows, kLength, 8, 8};
    c.rule.scale = 0.5F;
    c.queries = random_heads(random, {4, rows, 8}, 1.5, DType::kF32);
    c.keys = random_heads(random, {2, kLength, 8}, 1.5, DType::kF32);
    c.values = random_heads(random, {2, kLength, 8}, 1, DType::kF32);
  }
  cases[0].name = "everything seen";
  cases[1].name = "causal";
  cases[1].rule.mask = Mask::causal();
  cases[2].name = "sliding window";
  cases[2].rule.mask = {.behind = 6, .ahead = 0};
  cases[3].name = "padding";
  cases[3].rule.mask.key_valid.assign(kLength, 1);
  for (const size_t j : {0, 1, 20, 36}) cases[3].rule.mask.key_valid[j] = 0;
  cases[4].name = "causal, padded on the left";
  cases[4].rule.mask = Mask::causal();
  cases[4].rule.mask.key_valid.assign(kLength, 1);
  for (const size_t j : {0, 1, 2}) cases[4].rule.mask.key_valid[j] = 0;
  cases[5].name = "windows of a picture, band";
  cases[5].rule.mask = {.behind = 9, .ahead = 4};
  for (int32_t j = 0; j < kLength; ++j) {
    cases[5].rule.mask.query_group.push_back(j % 3);
    cases[5].rule.mask.key_group.push_back(j % 4);
  }
  cases[6].name = "later steps of a causal model";
  cases[6].rule.mask = Mask::causal(kLength - 11);
  return cases;
}

// A record of the case whose rows count along another axis unless they are the columns.
inline std::shared_ptr<const AttentionRecord> map_record(const AttentionCase& c, SiteId site = {}) {
  AttentionRecord record = record_of(c, site);
  if (c.shape.rows != c.shape.cols) record.row_axis = "steps";
  return std::make_shared<const AttentionRecord>(std::move(record));
}

// Whether the row belongs to the input: in self-attention it must be a key that counts.
inline bool is_input(const AttentionCase& c, size_t row) {
  const auto& valid = c.rule.mask.key_valid;
  return c.shape.rows != c.shape.cols || valid.empty() || valid[row] != 0;
}

// Layers over one text, and the axes that they name.
inline Run map_run(const std::vector<std::shared_ptr<const AttentionRecord>>& layers) {
  Run run{.model = "random"};
  const AttentionShape shape = layers.front()->shape();
  Axis columns{.name = "tokens"}, rows{.name = "steps"};
  for (int64_t j = 0; j < shape.cols; ++j) columns.positions.push_back({.text = std::to_string(j)});
  for (int64_t i = 0; i < shape.rows; ++i) rows.positions.push_back({.text = std::to_string(i)});
  run.axes = {columns, rows};
  run.records = layers;
  validate(run);
  return run;
}

}  // namespace fovea::support
