// Makes figures from the run of a picture: one row or column of a map, laid over its patches.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/capture/run.h"
#include "fovea/explain/pictures/grid_mask.h"
#include "fovea/figure/figure.h"
#include "fovea/figure/map_drawing.h"
#include "fovea/figure/view.h"
#include "fovea/vision/patch_grid.h"
#include "fovea/vision/picture.h"

namespace fovea {

struct PictureChoice {
  std::optional<int64_t> layer;      // none: the last
  HeadChoice head;                   // kAll: a panel for each
  std::optional<int64_t> patch;      // on the grid; none: a token in front, or the pooling head
  std::optional<std::string> token;  // by its name, "[REG 1]"; none: the first
  bool column = false;               // who attends to it, not what it attends to
  double mask = 0;                   // the fewest patches that hold this share of the mass; 0: all
  std::optional<GridMask> without;   // excluded patches; others get their weight (artifacts.h)
  bool all_layers = false;           // of all heads, as a sheet
  bool smooth = false;               // blended between patches
  MapDrawing drawing = {};           // of what counts from weights where those two are asked for
};

// One map of one head (or of their mean or maximum) over the grid.
struct PatchMap {
  std::string title;            // "head 3", "mean of 6 heads"
  std::vector<double> weights;  // one per patch, row by row
  std::vector<double> drawn;    // what is drawn of them; NaN where the mask forbids
  double sum = 0;               // sum of the whole row or column, special tokens too
  double on_patches = 0;
  std::optional<GridMask> mask;  // none: not asked for
  double removed = 0;            // share of on_patches on excluded patches
};

struct PatchMaps {
  SiteId site;  // of several layers the last
  int64_t heads = 0;
  std::vector<int64_t> layers;  // the maps are those of the first, then of the next
  std::string query;            // "[CLS]", "patch 3,7", "the pooling head"
  int64_t grid_rows = 0;
  int64_t grid_cols = 0;
  std::vector<PatchMap> maps;
};

// Which of a run's attentions are the picture's own: if there are two towers, the picture tower's.
SiteKind picture_kind(const Run& run);
// The axis of patches. Throws Error{kNotFound} if there is none.
const Axis& picture_axis(const Run& run);
// The metadata of every figure of the run's picture: version, model and grid. Throws as
// picture_axis() does.
Json picture_metadata(const Run& run);
// Finds a token in front of the patches by its name; "[REG 1]" and "reg 1" are the same. The second
// form throws Error{kInvalidArgument} that lists them.
std::optional<int64_t> find_front_token(const Axis& axis, std::string_view name);
int64_t front_token_named(const Axis& axis, std::string_view name);
// The self-attention of a picture's patches in one layer, or in the last. Throws Error{kNotFound}
// if the run has none.
std::shared_ptr<const AttentionRecord> picture_record(const Run& run, std::optional<int64_t> layer);

// The chosen maps. Throws Error{kNotFound} if the run has no patches or no such layer, and
// Error{kInvalidArgument} if there is no such head or token, or nothing to look from.
PatchMaps patch_maps(const Run& run, const PictureChoice& choice);

// `picture` is the whole one; the figure shows the part that the model saw.
ImageFigure picture_view(const Run& run, const PatchMaps& maps, const PictureChoice& choice,
                         const Picture& picture, const PatchGrid& grid);

// " · squashed to 224 × 224 for the model": how the model saw a picture of another shape; empty
// where it saw the whole picture in its shape.
std::string seen_note(const PatchGrid& grid);

// The small copy that a captured run keeps of its picture. Throws Error{kNotFound} if there is
// none.
Picture picture_of(const Run& run);

}  // namespace fovea
