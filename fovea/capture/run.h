// A captured run: the input as the model saw it and a record of every attention.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fovea/capture/attention_record.h"
#include "fovea/capture/expert_choice.h"

namespace fovea {

// One position of an axis: a token, a patch, a pixel, an object query.
struct Position {
  std::string text;          // display form: "[CLS]", "cat", "patch 3,7"
  int64_t source_begin = 0;  // byte span in the axis's source text; empty where there is none
  int64_t source_end = 0;
  bool special = false;  // [CLS], registers, padding: not part of the input itself
  int64_t word = -1;     // the word that it is a piece of; -1: none or unknown

  bool operator==(const Position&) const = default;
};

// An axis: what the rows or columns of maps stand for.
struct Axis {
  std::string name;    // "tokens", "source", "target", "patches", "queries"
  std::string source;  // the text, if it is one
  std::vector<Position> positions;
  // Pictures: the last grid_rows * grid_cols positions are a grid, row by row. 0: no grid.
  int64_t grid_rows = 0;
  int64_t grid_cols = 0;

  bool operator==(const Axis&) const = default;
};

inline constexpr int64_t kLongestPictureSide = 4096;

struct Run {
  std::string model;       // name or folder, as the user gave it
  std::string model_hash;  // the fingerprint of the weights
  std::string model_note;  // its maps show this about it; empty: nothing
  std::vector<Axis> axes;
  std::vector<std::shared_ptr<const AttentionRecord>> records;
  std::vector<ExpertChoice> experts;  // of layers that have some, in their order
  // A small copy of the picture, U8 [height, width, 3]. It covers exactly the grid of the axes that
  // have one: each cell shows an equal part of it. Empty: none.
  Tensor picture;

  // nullptr if there is none.
  const Axis* find_axis(std::string_view name) const;
  // Which experts that layer took; nullptr if it has none.
  const ExpertChoice* find_experts(int layer) const;
  // Throws Error{kNotFound} that lists the sites.
  std::shared_ptr<const AttentionRecord> record(SiteId site) const;
};

// Throws Error{kInvalidArgument} unless every record is valid, sites differ, and every record has
// as many rows and columns as the axes that it names have positions. A picture must have pixels,
// and an axis with a grid.
void validate(const Run& run);

}  // namespace fovea
