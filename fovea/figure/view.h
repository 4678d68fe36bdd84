// Makes a figure from a captured run and a choice. Maps are computed strip by strip, so that
// nothing larger than the figure itself is kept.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "fovea/atlas/head_choice.h"
#include "fovea/capture/run.h"
#include "fovea/figure/figure.h"

namespace fovea {

struct ViewChoice {
  std::optional<SiteKind> kind;      // none: the kind of the run's first record
  std::optional<int64_t> layer;      // none: the last one of that kind
  bool all_layers = false;           // heads_view only: layers down, heads across
  HeadChoice head;                   // for one matrix, kAll means the mean
  std::optional<std::string> token;  // a label, a word or a number, as token_named() takes it
  bool column = false;               // who attends to the token, not what it attends to
  bool words = false;                // pieces merged: rows by their mean, columns by their sum
  bool exact = false;                // never pooled; too large a map is refused
};

// A matrix with more positions on a side is pooled by maximum, and its caption says so.
inline constexpr int64_t kLargestSide = 2048;
// No figure holds more cells.
inline constexpr int64_t kMostCells = int64_t{1} << 26;

// All throw Error{kNotFound} if the run has no such attention, and Error{kInvalidArgument} if there
// is no such head or token, or if the figure would have too many cells.
//
// Shows one matrix: a head, or the mean or maximum of all. A chosen token is marked.
MatrixFigure matrix_view(const Run& run, const ViewChoice& choice);
// Shows all heads of the layer, or of all layers. Each map is pooled as far as needed to fit into
// one figure.
HeadsFigure heads_view(const Run& run, const ViewChoice& choice);
// Shows one row (or column) over the running text. Without a token it is the last one that is not
// special. If rows and columns count along different texts, `chosen` is -1.
ReadFigure read_view(const Run& run, const ViewChoice& choice);
// Shows every row in turn, each up to the last position that it may see; at most 64, without
// special ones. Refuses a chosen token.
ReadingFigure reading_view(const Run& run, const ViewChoice& choice);
// Joins rows and columns by lines: a panel for each head, or one for the mean or maximum.
LinesFigure lines_view(const Run& run, const ViewChoice& choice);

}  // namespace fovea
