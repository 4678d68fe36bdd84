// One head's score rule, prepared once for many rows.
#pragma once

#include <vector>

#include "fovea/kernels/attention.h"
#include "fovea/kernels/panels.h"

namespace fovea {

// For the keys of `columns`. `inputs` and its rule must outlive the value.
struct HeadRule {
  HeadRule(const AttentionInputs& attention_inputs, int64_t head_index, KeyRange key_columns);

  AttentionInputs inputs;
  AttentionShape shape;
  const ScoreRule* rule;
  int64_t head;
  KeyRange columns;
  // Whether a score is anything but scale * q . k within the mask's key range.
  bool plain;
  // 0 for keys that may be seen and -infinity for padding, one per column; empty if all may.
  std::vector<float> key_penalty;
  std::vector<CutEdge> cuts;  // of this head, rising
  // Disentangled attention. position_keys: the table that queries meet, as panels.
  // key_terms: scale * k_j . queries[e] for every column j, [columns, entries].
  Panels position_keys;
  std::vector<float> key_terms;
  int64_t entries = 0;

  bool needs_query_terms() const { return position_keys.columns() > 0; }
};

}  // namespace fovea
