// What a picture shows, before anything is drawn: the same values go to the terminal, to PNG, SVG
// and PDF, and to a page. fovea/figure/view.h makes them from a run.
//
// Weights are f32; NaN is a cell that the mask forbids: no small number, but no number.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "fovea/capture/run.h"
#include "fovea/figure/color_map.h"
#include "fovea/figure/figure_text.h"
#include "fovea/figure/number_table.h"
#include "fovea/figure/table.h"
#include "fovea/tensor/tensor.h"
#include "fovea/vision/picture.h"

namespace fovea {

// The last goes both ways from 0: logarithmic in the size, and sizes up to `least` are all the
// same.
enum class ScaleCurve { kLinear, kSqrt, kLog, kSignedLog };

// Which value has which colour, the same for all panels of a figure (color_axis.h).
struct ColorScale {
  double low = 0;
  double high = 1;
  ScaleCurve curve = ScaleCurve::kLinear;
  bool times_even = false;  // values count from even attention: 2 is told as ×2, 0.5 as ÷2
  bool below = false;       // values lie beyond that end, which the colour bar tells by an arrow
  bool above = false;
  double least = 0;  // of a signed logarithmic scale; its ends are as far below 0 as above

  bool is_signed() const { return low < 0 && high > 0; }
};

struct MapPanel {
  std::string title;      // "head 3", "layer 2 · head 3"
  Tensor weights;         // [rows, cols]
  double apart = 0;       // the share of all weight that is not in the colours, but grey
  std::string kind = {};  // of head: "previous token"; empty: not known
  // Columns that stay at their place but are grey, from 0 to 1: special tokens and sinks.
  std::vector<int64_t> grey = {};
};

// A cell that is marked with a ring.
struct CellMark {
  int64_t row = 0;
  int64_t col = 0;
};

// Where the rows or columns of a figure lie in the whole map, of which it shows a part or pools.
struct AxisPlace {
  int64_t first = 0;
  int64_t step = 1;                  // positions of the map in one of the figure
  std::vector<int64_t> hidden = {};  // positions of the map that the figure leaves out, rising

  int64_t of(int64_t index) const {
    int64_t position = first + index * step;
    for (const int64_t left_out : hidden) position += left_out >= first && left_out <= position;
    return position;
  }
};

// A column that is drawn apart from its map, in grey from 0 to 1: a sink or a special token.
struct ColumnApart {
  std::string name;            // "token 0", "[CLS]"
  double share = 0;            // of all weight
  std::vector<float> weights;  // one for each row of the figure
};

// A name at a place along an axis, counted in cells from its beginning.
struct PlacedName {
  double place = 0;
  std::string text;
};

// How much of all weight lies at a distance, and how much even attention puts there.
struct DistanceShare {
  int64_t from = 0;
  double share = 0;
  double even = 0;
};

// Where on its picture the cells of a map lie whose rows follow a path over it: sections of the
// path, of equally many cells, have letters.
struct PathKey {
  static constexpr int64_t kSections = 16;
  int64_t rows = 0;
  int64_t cols = 0;
  std::vector<int64_t> section = {};  // of each cell, line by line
  Picture picture = {};               // 0 x 0 pixels: none

  static std::string letter(int64_t section) {
    return std::string(1, static_cast<char>('A' + section));
  }
};

// What a figure of a long map says beside its cells.
struct MapOverview {
  std::vector<ColumnApart> apart;
  std::vector<PlacedName> row_names;     // first words of paragraphs, by place; may be empty
  std::vector<PlacedName> top_columns;   // tokens that receive most of all weight, most first
  double top_share = 0;                  // at least so much each
  std::vector<DistanceShare> distances;  // empty: not known
  bool causal = false;                   // the upper right half is not allowed
  std::vector<CellMark> needles;         // bins with single strong weights, marked with rings
  // What even attention gives each cell, by which cells are put together; empty: unknown.
  Tensor even;
  double last_row = 1;               // of a whole bin, how much the last one down holds
  std::optional<PathKey> path = {};  // of a picture's cells that are not in the model's order
};
// Whether labels would only say the numbers of the positions again, of groups that of the first.
bool are_numbers(const Axis& axis, AxisPlace place);

// One matrix with labels on both axes.
struct MatrixFigure {
  FigureText text;
  Axis rows;
  Axis cols;
  Tensor weights;  // [rows, cols]
  ColorScale scale;
  std::optional<int64_t> chosen_row;
  std::optional<int64_t> chosen_col;
  std::string value_name = "attention weight";  // beside the colour bar
  std::string row_title;                        // beside the rows; empty: "tokens, attending"
  std::string col_title;                        // above the columns; empty: "tokens, attended to"
  std::vector<CellMark> marks;
  AxisPlace row_place;
  AxisPlace col_place;
  std::optional<MapOverview> overview;
  std::vector<int64_t> grey = {};  // columns that are grey, from 0 to 1 (MapPanel)
  std::string grey_name = {};      // beside their bar: "to [CLS], [SEP]"
};

// Small multiples: all heads of one layer, or layers (down) x heads (across).
struct HeadsFigure {
  FigureText text;
  Axis rows;
  Axis cols;
  std::vector<MapPanel> panels;  // line by line
  int64_t panels_across = 1;
  ColorScale scale;
  std::string value_name = "attention weight";  // beside the colour bar
  bool overview = false;       // of long maps: panels without names; what is apart is a gauge
  bool causal = false;         // of these: the upper right half is not allowed
  std::string grey_name = {};  // beside the bar of grey columns, where a panel has some
};

// Running text: the chosen position marked, all others shaded by their weight. -1 is chosen where
// it is not part of this text.
struct ReadFigure {
  FigureText text;
  Axis axis;
  std::vector<float> weights;  // one per position
  int64_t chosen = 0;
  AxisPlace place = {};  // where the positions lie in the whole text
  bool column = false;   // who attends to the chosen one, instead of what it attends to
  ColorScale scale;
  std::string value_name = "attention weight";  // beside the colour bar
};

// A text read word by word: one line for each position in turn, as far as it may look.
struct ReadingFigure {
  FigureText text;
  std::vector<ReadFigure> lines;
  ColorScale scale;                             // of all lines
  std::string value_name = "attention weight";  // beside the colour bar
};

// Two columns of tokens, joined by lines whose strength is the weight. Two or three heads lie over
// each other in a colour each, and of each row the largest weights are drawn until they make up
// `mass`. Of more heads the last would hide the others: then each has a panel. Other values than
// weights are 0 or more too.
struct LinesFigure {
  FigureText text;
  Axis rows;
  Axis cols;
  std::vector<MapPanel> heads;
  double mass = 0.9;
  double least = 0.05;  // what a panel of one head leaves out, of its strength or as a weight
  std::optional<ColorScale> strength;  // how strong a line is; none: by its share of the largest
  std::string value_name = "attention weight";
  std::optional<int64_t> chosen_row;  // draw only its lines
  std::optional<int64_t> chosen_col;
  AxisPlace row_place = {};
  AxisPlace col_place = {};

  bool in_panels() const { return heads.size() == 1 || heads.size() > 3; }
};

// Translation: the source across, the target down. Soft weights as colours, hard links as rings.
struct AlignFigure {
  FigureText text;
  Axis source;
  Axis target;
  Tensor weights;               // [target, source]
  std::vector<CellMark> links;  // row: target, col: source
  ColorScale scale;
  std::string value_name = "attention weight";  // beside the colour bar
};

// What patches give to others at the same offset, head by head: each a small square kernel.
struct KernelPanel {
  std::string title;      // "head 3"
  std::string detail;     // beside it: "spread 1.8 · 48 % inside", "up left"
  Tensor weights;         // [2 * radius + 1, 2 * radius + 1], offset 0 in the middle
  double centre_row = 0;  // the mean offset
  double centre_col = 0;
};
struct KernelsFigure {
  FigureText text;
  std::vector<KernelPanel> panels;  // line by line
  int64_t panels_across = 1;
  // Of times even; or of weights, which then stand in their cells.
  ColorScale scale;
  double even = 1;  // the weight that is 1 in the panels
};

// One number for each head of each layer, as dots above the layers.
struct DotsFigure {
  FigureText text;
  std::string group_name;           // below the dots: "layer"
  std::vector<std::string> groups;  // "0", "1", ...
  std::vector<std::string> series;  // "head 0", ...: one colour each
  Tensor values;                    // [groups, series], 0 or more
  std::string value_name;           // "pixels"
  std::optional<double> reference;  // a line to compare with
  std::string reference_name;
};

// A number along a way from 0 to 1, and behind it the range of what others get there.
struct CurvePanel {
  std::string title;           // "deletion"
  std::string detail;          // below it: "area 0.21, random 0.45"
  std::string way_name;        // below the plot: "share of patches taken away"
  std::vector<double> shares;  // 0 to 1, rising
  std::vector<double> values;  // one for each
  std::vector<double> mean;    // of the others; the same for these
  std::vector<double> low, high;
};
struct CurvesFigure {
  FigureText text;
  std::vector<CurvePanel> panels;  // side by side on one scale
  std::string value_name;          // "probability of class cat"
  std::string curve_name;          // "rollout"
  std::string mean_name;           // "random orders, mean"
  std::string band_name;           // "95 % of them"
};

// Patches of a picture in the colours of those whom they belong to.
struct CompositeOwner {
  std::string name;    // "head 3"
  std::string detail;  // behind it: "18 % of the patches"
  std::string mark;    // written on its largest part: "3"
};
struct CompositeFigure {
  FigureText text;
  Picture picture;
  Tensor owners;  // [grid rows, grid cols]: index of the owner; NaN: nobody's
  std::vector<CompositeOwner> names;
};

// A frame around an object. Its sides are fractions of the picture, from the left and the top; what
// lies outside of 0 to 1 is cut off.
struct ImageBox {
  double left = 0;
  double top = 0;
  double right = 1;
  double bottom = 1;
  std::string label;  // "cat 0.98"; may be empty
  int64_t color = 0;  // index of object_color()
};

// The area of an object: a bitmap over the whole picture, as fine or coarse as it comes.
struct ImageMask {
  int64_t rows = 0;
  int64_t cols = 0;
  std::vector<uint8_t> cells;  // row by row, 0 outside
  int64_t color = 0;           // index of object_color()
};

// A picture with the weights of its patches, areas and boxes laid over it, once for each panel.
struct ImagePanel {
  std::string title;                    // "head 3"
  Tensor weights;                       // [grid rows, grid cols]; empty: no colours
  std::optional<CellMark> chosen = {};  // a patch that is framed
  std::vector<ImageMask> masks = {};
  std::vector<ImageBox> boxes = {};
  std::optional<ImageBox> part = {};  // of kParts: which part it is of, without a name
  std::string note = {};              // below the title: "half in 15, 90 % in 87 of 784"
};

enum class ImageLayout {
  kLines,   // the picture alone, then the panels line by line
  kPanels,  // the panels line by line, without the picture alone
  // The picture in the middle with the panels' chosen patches marked, the panels left and right of
  // it, and a line from each patch to its panel.
  kAround,
  // A small panel for each part of the picture, at its place, its own part framed; the picture
  // beside them.
  kParts,
  // Small panels in a table, without titles: a line for each row name, a column for each column
  // name.
  kSheet,
};

struct ImageFigure {
  FigureText text;
  Picture picture;
  std::vector<ImagePanel> panels;
  int64_t panels_across = 4;
  ColorScale scale;
  bool smooth = false;  // blend between patches, and say so; otherwise one colour per patch
  // A line around the fewest patches with this mass, in panels where that is an area (contour.h);
  // 1: around all that is not NaN, in every panel; 0: none.
  double contour_mass = 0.5;
  std::string value_name = "attention weight";
  std::string grid_name = "patches";  // what the cells of the grid are, for the note below
  ImageLayout layout = ImageLayout::kLines;
  std::vector<std::string> row_names = {};  // of a sheet: "layer 0"
  std::vector<std::string> col_names = {};  // "head 0"

  // In any panel: then the colours need a legend.
  bool has_weights() const {
    return std::ranges::any_of(panels,
                               [](const ImagePanel& each) { return !each.weights.empty(); });
  }
};

// A chain of small tables of numbers, from Q, K and V to the weighted sum.
struct StepsStage {
  int number = 0;
  std::string name;                 // "Scores"
  std::string formula;              // "s = q · k"
  std::string explanation;          // one sentence
  std::vector<NumberTable> tables;  // side by side; none: nothing changes here
  // Told in a text; a picture has no room for them.
  std::string caption = {};  // below the tables
  std::string part = {};     // where a new part begins: "Head 1"
};
struct StepsFigure {
  FigureText text;
  std::vector<StepsStage> stages;
  // What a text tells above and below the stages; a picture has room for its caption only.
  std::vector<std::string> facts = {};
  std::vector<std::string> checks = {};
  // Above them what the weights lie on, and where; its text is not shown.
  std::optional<ImageFigure> picture = {};
};

// Several figures, one below the other: a table and the maps beside it, a map before and after a
// change.
struct SheetPart;
struct SheetFigure {
  FigureText text;
  std::vector<SheetPart> parts;
};

using Figure = std::variant<MatrixFigure, HeadsFigure, ReadFigure, ReadingFigure, LinesFigure,
                            StepsFigure, AlignFigure, ImageFigure, KernelsFigure, DotsFigure,
                            CurvesFigure, CompositeFigure, TableFigure, SheetFigure>;

// Its own title and caption are not shown: the sheet has them.
struct SheetPart {
  std::string heading;  // "before"; may be empty
  Figure figure;
};

// Rows or columns of a grid, by their numbers.
Axis numbered_axis(const char* name, int64_t count);
Tensor as_tensor(const Matrix& matrix);  // f32
// The same as a matrix whose axes are two texts.
MatrixFigure as_matrix(const AlignFigure& figure);
const FigureText& text_in(const Figure& figure);
// The colour map of that name; without one what suits the figure: `paper` on white, `inferno` over
// a picture, and where there are negative values one for differences.
const ColorMap& colors_of(const Figure& figure, std::string_view name = "");
// Below a picture: "24 × 30 patches, one colour each. The line holds half of the weight."
std::string patches_note(const ImageFigure& figure);

}  // namespace fovea
