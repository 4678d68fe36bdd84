// Figures of what a detector found in a picture and where its attention lies.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fovea/explain/pictures/picture_score.h"
#include "fovea/explain/pictures/pixel_mask.h"
#include "fovea/figure/figure.h"
#include "fovea/figure/map_drawing.h"
#include "fovea/figure/view_frame.h"
#include "fovea/vision/patch_grid.h"

namespace fovea {

struct DetectedObject {
  int64_t number = 0;  // from 1, by falling score
  int64_t query = 0;
  int64_t label = 0;
  std::string name;  // the label's name
  double score = 0;
  PictureBox box;  // in pixels of the picture
};

// A picture that a detector has seen, and the objects above the threshold.
struct DetectionScene {
  const Run& run;
  const Picture& picture;
  const PatchGrid& grid;
  const std::vector<DetectedObject>& objects;
  double threshold = 0;

  GridShape cells() const { return {grid.rows(), grid.columns()}; }
  CellMark mark_of(int64_t cell) const;                     // its place in the grid
  std::string cell_name(int64_t cell) const;                // "cell 3,7"
  int64_t centre_cell(const DetectedObject& object) const;  // in the middle of its box
};

// Metadata. For objects: model, picture, threshold and objects. For one attention: model, grid and
// threshold.
Json objects_json(const DetectionScene& scene);
Json scene_metadata(const DetectionScene& scene, SiteId site);

// A scale from 0 to the largest weight. In a large map, where few weights are far above all others,
// it ends at a weight that only 2 in 1000 exceed; `note` then says so for the caption. Forbidden
// cells have no weight.
ColorScale visible_scale(std::vector<float> weights, std::string& note);

// A table of the objects: names, scores, boxes and queries.
TableFigure objects_table(const DetectionScene& scene);
// Draws the boxes with labels and scores.
ImageFigure objects_figure(const DetectionScene& scene);

// The areas of all objects, found in one way.
struct ObjectMasks {
  std::string title;
  std::vector<PixelMask> objects;
};
// Draws them side by side. `place` names layer and heads.
ImageFigure masks_figure(const DetectionScene& scene, const std::vector<ObjectMasks>& all,
                         std::string_view place);

// Rows or columns of one attention over the cells, a panel each.
struct LineMaps {
  ImageFigure figure;
  std::string query;  // whose rows or columns they are
  bool column = false;
  std::vector<double> sums;
  std::vector<std::vector<double>> weights;  // of each panel, whatever it draws
  double uniform = 0;  // what a column would receive if all rows looked everywhere alike
};
// What a query attends to, in the chosen heads. Without a query: what each object's query attends
// to.
LineMaps query_maps(const DetectionScene& scene, const RecordPointer& record, HeadChoice head,
                    std::optional<int64_t> query, const MapDrawing& drawing = {});
// What a cell attends to, or who attends to it.
LineMaps cell_maps(const DetectionScene& scene, const RecordPointer& record, HeadChoice head,
                   int64_t cell, bool column, const MapDrawing& drawing = {});
struct NamedCell {
  int64_t cell = 0;
  std::string name;  // "at 120,80"
};
// The same for a few cells; their maps stand around the picture.
LineMaps point_maps(const DetectionScene& scene, const RecordPointer& record, HeadChoice head,
                    const std::vector<NamedCell>& points, bool column,
                    const MapDrawing& drawing = {});

// A figure over the picture, at most `longest` pixels long, and one map over the cells.
ImageFigure scene_figure(const DetectionScene& scene, int64_t longest);
ImagePanel map_panel(const DetectionScene& scene, std::string title,
                     const std::vector<double>& weights);

}  // namespace fovea
