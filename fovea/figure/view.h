// Makes a figure from a captured run and a choice. Maps are computed strip by strip, so that
// nothing larger than the figure itself is kept.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "fovea/atlas/head_choice.h"
#include "fovea/atlas/merged_map.h"
#include "fovea/capture/run.h"
#include "fovea/figure/figure.h"

namespace fovea {

// An end of the colours: a value, or the one that so many percent of all lie below.
struct RangeEnd {
  double value = 0;
  bool percentile = false;
};
struct ColorRange {
  RangeEnd low;
  RangeEnd high;
};
// "0:0.5", "1%:99%". Throws Error{kInvalidArgument} about the field "range".
ColorRange parse_range(std::string_view text);

// Positions [begin, end) of an axis; from its first, to its last where an end is left out.
struct AxisPart {
  std::optional<int64_t> begin = {};
  std::optional<int64_t> end = {};
};
// "A:B", "A:", ":B". Throws Error{kInvalidArgument} about the field.
AxisPart parse_part(const char* field, std::string_view text);

// A position and as many before and behind it.
struct Around {
  std::string token;  // as token_named() takes it
  int64_t reach = 32;
};
// "TOKEN" or "TOKEN:N"; the last colon splits where a number follows it.
Around parse_around(std::string_view text);

struct ViewChoice {
  std::optional<SiteKind> kind;      // none: the kind of the run's first record
  std::optional<int64_t> layer;      // none: the last one of that kind
  bool all_layers = false;           // heads_view only: layers down, heads across
  HeadChoice head;                   // for one matrix, kAll means the mean
  std::optional<std::string> token;  // a label, a word or a number, as token_named() takes it
  bool column = false;               // who attends to the token, not what it attends to
  bool words = false;                // pieces merged: rows by their mean, columns by their sum
  bool exact = false;                // never pooled; too large a map is refused
  // What is left out suits the size of the map (map_drawing.h).
  std::optional<MapValue> of = {};
  std::optional<ScaleCurve> curve = {};
  std::optional<ColorRange> range = {};
  // A part of the map, counted in tokens, or in words where they are merged.
  std::optional<AxisPart> rows = {};
  std::optional<AxisPart> cols = {};
  std::optional<Around> around = {};  // of both axes where they are one, else of the token's
  // A bin of a long map is its largest cell, not rows by mean and columns by sum.
  bool largest = false;
  // Columns that are left out: sinks, special tokens (sinks.h). The others keep their values,
  // unless rows are divided by what they leave.
  bool hide_sinks = false;
  bool hide_special = false;
  bool renormalise = false;
  std::optional<int64_t> needles = {};  // rings around so many bins with single strong weights
};

// A map with more words on a side is refused; one of tokens is pooled, and its caption says so.
inline constexpr int64_t kLargestSide = 2048;
// No figure holds more cells.
inline constexpr int64_t kMostCells = int64_t{1} << 26;

// All throw Error{kNotFound} if the run has no such attention, and Error{kInvalidArgument} if there
// is no such head or token, or if the figure would have too many cells.
//
// Shows one matrix: a head, or the mean, maximum or minimum of all. A chosen token is marked.
MatrixFigure matrix_view(const Run& run, const ViewChoice& choice);
// Shows all heads of the layer, or those that are chosen, or of all layers. Each map is pooled as
// far as needed to fit into one figure.
HeadsFigure heads_view(const Run& run, const ViewChoice& choice);
// Shows one row (or column) over the running text. Without a token it is the last one that is not
// special. If rows and columns count along different texts, `chosen` is -1.
ReadFigure read_view(const Run& run, const ViewChoice& choice);
// Shows every row in turn, each up to the last position that it may see; at most 64, without
// special ones. Refuses a chosen token.
ReadingFigure reading_view(const Run& run, const ViewChoice& choice);
// Joins rows and columns by lines: a panel for each head, or one for the mean, maximum or minimum.
LinesFigure lines_view(const Run& run, const ViewChoice& choice);

}  // namespace fovea
