// A captured run: the input as the model saw it and a record of every attention.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fovea/capture/attention_record.h"

namespace fovea {

// One position of an axis: a token, a patch, a pixel, an object query.
struct Position {
  std::string text;          // display form: "[CLS]", "cat", "patch 3,7"
  int64_t source_begin = 0;  // byte span in the axis's source text; empty where there is none
  int64_t source_end = 0;
  bool special = false;  // [CLS], registers, padding: not part of the input itself
  int64_t word = -1;     // which word it is a piece of; -1: none or not known

  bool operator==(const Position&) const = default;
};

// What the rows or columns of maps count along.
struct Axis {
  std::string name;    // "tokens", "source", "target", "patches", "queries"
  std::string source;  // the text, for text
  std::vector<Position> positions;
  // For pictures: the last grid_rows * grid_cols positions are a grid, row by row. 0: no grid.
  int64_t grid_rows = 0;
  int64_t grid_cols = 0;

  bool operator==(const Axis&) const = default;
};

inline constexpr int64_t kLongestPictureSide = 4096;

struct Run {
  std::string model;       // name or folder, as the user gave it
  std::string model_hash;  // of the weights
  std::string model_note;  // what its maps are to say of it; empty: nothing
  std::vector<Axis> axes;
  std::vector<std::shared_ptr<const AttentionRecord>> records;
  // What lies under the grid of the axes that have one, no more and no less, U8 [height, width, 3]:
  // each cell shows an equal part of it. A small copy; empty: none.
  Tensor picture;

  // nullptr if there is none.
  const Axis* find_axis(std::string_view name) const;
  // Throws Error{kNotFound} that lists the sites.
  std::shared_ptr<const AttentionRecord> record(SiteId site) const;
};

// Throws Error{kInvalidArgument} unless every record is valid, sites differ, and every axis that a
// record names is there and has as many positions as the record has rows or columns; a picture must
// have pixels, and an axis with a grid to lie under.
void validate(const Run& run);

}  // namespace fovea
