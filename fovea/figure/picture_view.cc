#include "fovea/figure/picture_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "fovea/atlas/merged_map.h"
#include "fovea/base/cancel.h"
#include "fovea/base/error.h"
#include "fovea/base/version.h"
#include "fovea/explain/pictures/artifacts.h"
#include "fovea/explain/pictures/mass_mask.h"
#include "fovea/explain/pictures/picture_axis.h"
#include "fovea/figure/caption.h"
#include "fovea/figure/contour.h"
#include "fovea/figure/view_frame.h"
#include "fovea/vision/seen_part.h"

namespace fovea {
namespace {

// The position that looks, or is looked at, and its record.
struct Query {
  RecordPointer record;
  int64_t index = 0;
  std::string name;
};

std::string plain_name(std::string_view name) {
  std::string plain;
  for (const char letter : name) {
    if (letter == '[' || letter == ']') continue;
    plain += letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  }
  return plain;
}

Query query_of(const Run& run, const PictureChoice& choice, const Axis& axis) {
  const int64_t front = PictureAxis::of(axis).specials;
  const auto self = [&] { return picture_record(run, choice.layer); };
  if (choice.patch) {
    const int64_t row = *choice.patch / axis.grid_cols, col = *choice.patch % axis.grid_cols;
    return {self(), front + *choice.patch, fmt::format("patch {},{}", row, col)};
  }
  if (front > 0 || choice.token) {
    const int64_t token = choice.token ? front_token_named(axis, *choice.token) : 0;
    return {self(), token, axis.positions[static_cast<size_t>(token)].text};
  }
  for (const auto& record : run.records) {
    if (record->site.kind == SiteKind::kPool && !choice.layer && !choice.column) {
      return {record, 0, "the pooling head"};
    }
  }
  fail(ErrorKind::kInvalidArgument, Field{"at"},
       "this model has no token in front of its patches to look from; choose a patch");
}

PatchMap patch_map(const Query& query, HeadChoice head, const PictureChoice& choice,
                   GridShape grid) {
  const std::vector<double> line = line_of(query.record, query.index, head, choice.column);
  PatchMap map;
  map.title = heads_text(head, query.record->shape().heads);
  map.sum = std::accumulate(line.begin(), line.end(), 0.0);
  map.weights.assign(line.end() - grid.patches(), line.end());
  map.on_patches = std::accumulate(map.weights.begin(), map.weights.end(), 0.0);
  if (choice.without) {
    RenormalisedRow row = exclude_and_renormalise(map.weights, *choice.without);
    map.weights = std::move(row.weights);
    map.removed = row.removed;
  }
  if (choice.mask > 0) map.mask = mass_mask(grid, map.weights, choice.mask);
  map.drawn = map.weights;
  if (choice.drawing.of != MapValue::kWeight) {
    const std::vector<double> values =
        line_of(query.record, query.index, head, choice.column, choice.drawing.of);
    map.drawn.assign(values.end() - grid.patches(), values.end());
    const std::vector<double> whole(line.end() - grid.patches(), line.end());
    for (size_t i = 0; choice.without && i < whole.size(); ++i) {
      map.drawn[i] = whole[i] > 0 ? map.drawn[i] / whole[i] * map.weights[i] : 0;
    }
  }
  return map;
}

// A share of the mass and what is taken out of it are of weights.
void check_counts_weights(const PictureChoice& choice) {
  const bool weights =
      choice.drawing.of == MapValue::kWeight || choice.drawing.of == MapValue::kTimesEven;
  if (weights || (choice.mask == 0 && !choice.without)) return;
  fail(ErrorKind::kInvalidArgument, Field{"of"},
       "{} counts weights, so nothing else can be drawn with it; leave one of them out",
       choice.mask > 0 ? "a mask" : "taking artifacts out");
}

Tensor patch_grid_tensor(const PatchMap& map, int64_t rows, int64_t cols) {
  Tensor tensor = Tensor::uninitialized({rows, cols});
  float* out = tensor.mutable_values<float>().data();
  for (size_t i = 0; i < map.drawn.size(); ++i) {
    const bool hidden = map.mask && !map.mask->holds(static_cast<int64_t>(i));
    out[i] = hidden ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(map.drawn[i]);
  }
  return tensor;
}

std::string range_text(const PatchMaps& maps, double PatchMap::*member) {
  std::vector<double> values;
  for (const PatchMap& map : maps.maps) values.push_back(map.*member);
  return sum_text(values);
}

// "3 artifact patches taken out with 12 to 40 % of the weight, the rest renormalised".
std::string badge(const PatchMaps& maps, const GridMask& without) {
  const auto [least, most] = std::ranges::minmax_element(maps.maps, {}, &PatchMap::removed);
  const std::string low = fmt::format("{:.1f}", 100 * least->removed);
  const std::string high = fmt::format("{:.1f}", 100 * most->removed);
  return fmt::format("{} artifact {} taken out with {} % of the weight, the rest renormalised",
                     without.count(), without.count() == 1 ? "patch" : "patches",
                     low == high ? low : low + " to " + high);
}

std::string picture_caption(const PatchMaps& maps, const PictureChoice& choice) {
  std::string text = choice.column ? fmt::format("Column: who attends to {}", maps.query)
                                   : fmt::format("Row: what {} attends to", maps.query);
  if (maps.layers.size() > 1) {
    text += fmt::format(" · layers {} to {}, {} {} each", maps.layers.front(), maps.layers.back(),
                        maps.heads, maps.heads == 1 ? "head" : "heads");
  } else if (maps.site.kind != SiteKind::kPool) {
    text += fmt::format(" · layer {}", maps.site.layer);
  }
  if (maps.layers.size() <= 1) {
    text += maps.maps.size() == 1 ? ", " + maps.maps.front().title
                                  : fmt::format(", {} heads", maps.maps.size());
  }
  text += " · " + meaning_of(choice.drawing.of);
  if (choice.drawing.of == MapValue::kWeight || choice.drawing.of == MapValue::kTimesEven) {
    text += fmt::format(" · sum {}, of which {} on patches", range_text(maps, &PatchMap::sum),
                        range_text(maps, &PatchMap::on_patches));
  }
  if (choice.mask > 0) {
    text += fmt::format(" · shown: the fewest patches that hold {:g} % of that", 100 * choice.mask);
  }
  if (choice.without) text += " · without artifacts: not what the model computed";
  return text;
}

}  // namespace

SiteKind picture_kind(const Run& run) {
  for (const auto& record : run.records) {
    if (record->site.kind == SiteKind::kVisionSelf) return SiteKind::kVisionSelf;
  }
  return SiteKind::kSelf;
}

const Axis& picture_axis(const Run& run) {
  const Axis* axis = run.find_axis("patches");
  if (axis == nullptr || axis->grid_rows == 0) {
    fail(ErrorKind::kNotFound,
         "the run has no picture: none of its axes is a grid of patches; capture one of a picture");
  }
  return *axis;
}

Json picture_metadata(const Run& run) {
  const Axis& axis = picture_axis(run);
  return Json::object({{"version", version()},
                       {"model", run.model},
                       {"model_hash", run.model_hash},
                       {"grid_rows", axis.grid_rows},
                       {"grid_cols", axis.grid_cols}});
}

std::optional<int64_t> find_front_token(const Axis& axis, std::string_view name) {
  const int64_t front = PictureAxis::of(axis).specials;
  for (int64_t i = 0; i < front; ++i) {
    if (plain_name(axis.positions[static_cast<size_t>(i)].text) == plain_name(name)) return i;
  }
  return {};
}

int64_t front_token_named(const Axis& axis, std::string_view name) {
  if (const auto found = find_front_token(axis, name)) return *found;
  std::vector<std::string> names;
  for (int64_t i = 0; i < PictureAxis::of(axis).specials; ++i) {
    names.push_back(axis.positions[static_cast<size_t>(i)].text);
  }
  fail(ErrorKind::kInvalidArgument, Field{"token"},
       "'{}' is given but in front of the patches stands {}", name,
       names.empty() ? "nothing; choose a patch"
                     : fmt::format("{}; give one of these", fmt::join(names, ", ")));
}

std::shared_ptr<const AttentionRecord> picture_record(const Run& run,
                                                      std::optional<int64_t> layer) {
  picture_axis(run);
  return chosen_record(run, {.kind = picture_kind(run), .layer = layer});
}

namespace {

// Of the asked layer, or of each.
std::vector<std::optional<int64_t>> layers_asked(const Run& run, const PictureChoice& choice) {
  if (!choice.all_layers) return {choice.layer};
  std::vector<std::optional<int64_t>> layers;
  for (const auto& record : records_of(run, picture_kind(run))) {
    layers.emplace_back(record->site.layer);
  }
  return layers;
}

// The shape of a patch map is the shape of one head; a sheet names lines and columns itself.
void make_sheet(ImageFigure& figure, const PatchMaps& maps) {
  figure.layout = ImageLayout::kSheet;
  for (const int64_t layer : maps.layers)
    figure.row_names.push_back(fmt::format("layer {}", layer));
  for (size_t i = 0; i < maps.maps.size() / maps.layers.size(); ++i) {
    figure.col_names.push_back(maps.maps[i].title);
  }
  for (size_t i = 0; i < figure.panels.size(); ++i) {
    figure.panels[i].title =
        figure.row_names[i / figure.col_names.size()] + " · " + figure.panels[i].title;
  }
}

}  // namespace

PatchMaps patch_maps(const Run& run, const PictureChoice& choice) {
  const Axis& axis = picture_axis(run);
  check_counts_weights(choice);
  PatchMaps maps{.grid_rows = axis.grid_rows, .grid_cols = axis.grid_cols};
  const GridShape grid{axis.grid_rows, axis.grid_cols};
  for (const std::optional<int64_t> layer : layers_asked(run, choice)) {
    PictureChoice one = choice;
    one.layer = layer;
    const Query query = query_of(run, one, axis);
    maps.site = query.record->site;
    maps.heads = query.record->shape().heads;
    maps.query = query.name;
    maps.layers.push_back(maps.site.layer);
    for (const HeadChoice& head : maps_meant(choice.head, *query.record)) {
      check_cancelled();
      maps.maps.push_back(patch_map(query, head, choice, grid));
    }
  }
  return maps;
}

ImageFigure picture_view(const Run& run, const PatchMaps& maps, const PictureChoice& choice,
                         const Picture& picture, const PatchGrid& grid) {
  ImageFigure figure;
  figure.picture = seen_part(picture, grid);
  std::vector<float> all;
  for (const PatchMap& map : maps.maps) {
    ImagePanel panel{.title = map.title,
                     .weights = patch_grid_tensor(map, maps.grid_rows, maps.grid_cols)};
    if (choice.patch) {
      panel.chosen = CellMark{*choice.patch / maps.grid_cols, *choice.patch % maps.grid_cols};
    }
    if (choice.drawing.of != MapValue::kScore) {
      const Tensor whole =
          patch_grid_tensor({.weights = {}, .drawn = map.weights}, maps.grid_rows, maps.grid_cols);
      panel.note = mass_note(whole.matrix<float>());
    }
    all.insert(all.end(), map.drawn.begin(), map.drawn.end());
    figure.panels.push_back(std::move(panel));
  }
  const MapDrawing& drawing = choice.drawing;
  figure.scale = scale_of(drawing, all);
  figure.value_name = value_name(drawing.of);
  // Scores have no mass.
  figure.contour_mass = drawing.of == MapValue::kScore ? 0 : choice.mask > 0 ? 1 : 0.5;
  figure.smooth = choice.smooth;
  figure.panels_across = maps.maps.size() <= 3 ? static_cast<int64_t>(maps.maps.size()) + 1 : 4;
  if (choice.all_layers) make_sheet(figure, maps);
  figure.text.title =
      title_of(run, maps.site.kind,
               fmt::format("{} {}", choice.column ? "who looks at" : "seen from", maps.query));
  figure.text.caption =
      picture_caption(maps, choice) + colors_note(drawing, figure.scale, all) + seen_note(grid);
  Json metadata = Json::object({{"version", version()},
                                {"model", run.model},
                                {"model_hash", run.model_hash},
                                {"site", to_string(maps.site)},
                                {"query", maps.query},
                                {"direction", choice.column ? "column" : "row"},
                                {"grid_rows", maps.grid_rows},
                                {"grid_cols", maps.grid_cols}});
  if (choice.mask > 0) metadata.set("mask", choice.mask);
  if (drawing.of != MapValue::kWeight) {
    metadata.set("of", map_value_names()[static_cast<size_t>(drawing.of)]);
  }
  if (choice.without) {
    figure.text.badge = badge(maps, *choice.without);
    Json removed = Json::array();
    for (const PatchMap& map : maps.maps) removed.push_back(map.removed);
    metadata.set("without_artifacts", choice.without->count());
    metadata.set("removed", std::move(removed));
  }
  figure.text.metadata = std::move(metadata);
  return figure;
}

std::string seen_note(const PatchGrid& grid) {
  const PictureWindow& window = grid.window();
  const auto shape = [](PictureSize size) {
    return static_cast<double>(size.width) / static_cast<double>(size.height);
  };
  const auto size_text = [](PictureSize size) {
    return fmt::format("{} × {}", size.width, size.height);
  };
  constexpr double kSameShape = 0.05;  // rounding to whole patches
  std::string note;
  if (std::abs(shape(window.resized) / shape(window.original) - 1) > kSameShape) {
    note = " · squashed to " + size_text(window.resized) + " for the model";
  }
  const bool cropped = window.left > 0 || window.top > 0;
  if (cropped) {
    note += fmt::format("{} the middle {} of {}", note.empty() ? " · cropped to" : ", cropped to",
                        size_text(window.input), size_text(window.resized));
    if (note.starts_with(" · cropped")) note += " for the model";
  }
  return note;
}

Picture picture_of(const Run& run) {
  if (run.picture.empty()) {
    fail(ErrorKind::kNotFound,
         "the run holds no picture; capture it from a picture file instead of pixel_values");
  }
  Picture picture(run.picture.size(1), run.picture.size(0));
  const std::span<const uint8_t> bytes = run.picture.values<uint8_t>();
  picture.bytes.assign(bytes.begin(), bytes.end());
  return picture;
}

}  // namespace fovea
