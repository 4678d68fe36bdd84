// Runs over a grid of 2 x 3 whose heads look where they are told.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "fovea/capture/run.h"
#include "fovea/vision/patch_grid.h"
#include "support/records.h"

namespace fovea::samples {

using Looks = std::vector<std::vector<int64_t>>;  // [head][row]: the column

inline Axis grid_axis(std::string name, bool special) {
  Axis axis{.name = std::move(name), .grid_rows = 2, .grid_cols = 3};
  if (special) axis.positions.push_back({.text = "[CLS]", .special = true});
  for (int i = 0; i < 6; ++i) {
    axis.positions.push_back(
        {.text = "patch " + std::to_string(i / 3) + "," + std::to_string(i % 3)});
  }
  return axis;
}

// [CLS] and the patches; one layer for each of `layers`.
inline Run patch_run(const std::vector<Looks>& layers) {
  Run run{.model = "models/tiny-vit", .axes = {grid_axis("patches", true)}};
  for (const Looks& looks : layers) {
    AttentionRecord record =
        support::aimed_record({SiteKind::kSelf, static_cast<int>(run.records.size())}, looks, 7);
    record.row_axis = record.col_axis = "patches";
    run.records.push_back(std::make_shared<const AttentionRecord>(std::move(record)));
  }
  return run;
}

// Every position looks at itself.
inline std::vector<int64_t> at_themselves() {
  return {0, 1, 2, 3, 4, 5, 6};
}

// Cells of 16 pixels over a picture of 48 x 32.
inline PatchGrid small_grid() {
  return PatchGrid::of_patches({.original = {48, 32}, .resized = {48, 32}, .input = {48, 32}}, 16);
}

}  // namespace fovea::samples
