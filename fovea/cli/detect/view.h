// What `fovea detect` shows: each view in a file of its own, made from one run.
#pragma once

#include <string>
#include <vector>

#include "fovea/cli/command.h"
#include "fovea/cli/show.h"
#include "fovea/engine/detections.h"
#include "fovea/engine/picture_input.h"
#include "fovea/explain/pictures/picture_score.h"
#include "fovea/explain/pictures/pixel_mask.h"
#include "fovea/render/view.h"

namespace fovea {

struct DetectedObject {
  int64_t number = 0;  // from 1, by falling score
  int64_t query = 0;
  int64_t label = 0;
  std::string name;  // of the label
  double score = 0;
  PictureBox box;  // in pixels of the picture
};

// A picture that has been through a detector, and what is asked about it.
struct DetectRun {
  Args args;
  Engine engine;
  PictureInput input;
  RunResult result;
  double threshold = 0;
  std::vector<DetectedObject> objects;

  GridShape grid() const { return {input.grid.rows(), input.grid.columns()}; }
};

struct DetectView {
  std::string name;                  // of --view
  std::string summary;               // for the help
  std::vector<std::string> options;  // that only some views take: "at", "query", ...
  void (*check)(const Args& args);   // before any work; throws Error{kInvalidArgument}
  Content (*make)(const DetectRun& run);
  bool needs_objects = false;    // without any it shows something else, and that must be told
  bool needs_positions = false;  // the position parts of queries and keys
  SiteKind site = SiteKind::kEncoderSelf;  // whose --layer and --head are meant
};

std::vector<DetectView> detect_views();

DetectView detect_objects_view();  // boxes, labels and scores
DetectView detect_queries_view();  // what the query of each object attends to
DetectView detect_encoder_view();  // what one cell attends to, or who attends to it
DetectView detect_points_view();   // the same of a few points around the picture
DetectView detect_between_view();  // attention between the queries of the objects
DetectView detect_why_view();      // one pair of cells: content and position
DetectView detect_masks_view();    // areas of objects out of attention
DetectView detect_matrix_view();   // the encoder's whole map, or a part of it

// By falling score. Throws as detections() does.
std::vector<DetectedObject> found_objects(const Engine& engine, const RunResult& result,
                                          PictureSize picture, double threshold);

// --at X,Y or X,Y:X,Y:... Throws Error{kInvalidArgument}.
std::vector<PixelArgument> parse_pixels(const std::string& text);
// --rows and --cols of a map with so many cells a side. Throws Error{kInvalidArgument}.
void check_ranges(const Args& args, int64_t cells);
// The cell that shows a pixel. Throws Error{kInvalidArgument} that names `option`.
int64_t cell_at(const PictureInput& input, std::string_view option, PixelArgument pixel);
int64_t centre_cell(const DetectRun& run, const PictureBox& box);
CellMark mark_of(const DetectRun& run, int64_t cell);       // its place in the grid
std::string cell_name(const DetectRun& run, int64_t cell);  // "cell 3,7"

// The attention that is meant, in --layer or the last.
std::shared_ptr<const AttentionRecord> record_for(const DetectRun& run, SiteKind kind);
HeadChoice head_of(const Args& args);  // --head, all if it is not given

// "1 cat 0.98" on its box, in its colour, as fractions of what the figure shows.
ImageBox box_for(const DetectRun& run, const DetectedObject& object);
// A figure over the picture, no larger than `longest` pixels; panels are added by the caller.
ImageFigure picture_figure(const DetectRun& run, int64_t longest);
// One map over the cells.
ImagePanel map_panel(const DetectRun& run, std::string title, const std::vector<double>& weights);

// From 0 to the largest weight; in a large map, where few are far above all others, to a weight
// that only 2 in 1000 exceed, and `note` says so for the caption.
ColorScale visible_scale(std::vector<float> weights, std::string& note);
// Model, picture, threshold and objects: what the JSON of every view begins with.
Json objects_json(const DetectRun& run);
Json metadata_for(const DetectRun& run, SiteId site);
// A figure of one map, or of some, with the objects in its JSON.
template <typename AnyFigure>
Content figure_content(const DetectRun& run, AnyFigure figure) {
  const auto data = [figure] { return data_of(figure); };
  const auto json = [objects = objects_json(run), data] {
    Json answer = objects;
    answer.set("map", map_json(data()));
    return answer;
  };
  return {std::move(figure), data, json};
}
// The list of objects for the terminal, or what to do if there are none.
std::string objects_text(const DetectRun& run, const Terminal& terminal);

// What `encoder` shows of one cell; also shown where no object was found.
Content encoder_content(const DetectRun& run, int64_t cell, bool column);

}  // namespace fovea
