#include "fovea/cli/detect/view.h"

#include <fmt/format.h>

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/version.h"
#include "fovea/cli/draw/text.h"
#include "fovea/cli/model_options.h"
#include "fovea/engine/classes.h"
#include "fovea/render/view_frame.h"
#include "fovea/vision/resize.h"

namespace fovea {
namespace {

constexpr Rgb kOutside{216, 216, 221};
constexpr int64_t kMostOutlined = 4096;  // in a finer grid the line is all one sees

Picture picture_under(const PictureInput& input) {
  const PictureSize extent = input.grid.filled_size();
  if (extent == input.picture.size()) return input.picture;
  Picture padded(extent.width, extent.height, kOutside);
  for (int64_t y = 0; y < input.picture.height; ++y) {
    std::copy_n(input.picture.row(y), input.picture.width * 3, padded.row(y));
  }
  return padded;
}

}  // namespace

std::vector<DetectView> detect_views() {
  return {detect_objects_view(), detect_queries_view(), detect_encoder_view(),
          detect_points_view(),  detect_between_view(), detect_why_view(),
          detect_masks_view(),   detect_matrix_view()};
}

std::vector<DetectedObject> found_objects(const Engine& engine, const RunResult& result,
                                          PictureSize picture, double threshold) {
  const std::vector<std::string> labels = engine.labels();
  std::vector<DetectedObject> objects;
  for (const Detection& found : detections(result, picture, threshold)) {
    objects.push_back({.query = found.query,
                       .label = found.label,
                       .name = class_name(labels, found.label),
                       .score = found.score,
                       .box = {found.box.left, found.box.top, found.box.right, found.box.bottom}});
  }
  std::ranges::stable_sort(objects, std::ranges::greater{}, &DetectedObject::score);
  for (size_t i = 0; i < objects.size(); ++i) objects[i].number = static_cast<int64_t>(i) + 1;
  return objects;
}

std::vector<PixelArgument> parse_pixels(const std::string& text) {
  if (text.ends_with(':')) {
    fail(ErrorKind::kInvalidArgument, "--at is '{}' but ends in ':'; several pixels are X,Y:X,Y",
         text);
  }
  std::vector<PixelArgument> pixels;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(':', begin), text.size());
    pixels.push_back(parse_pixel(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return pixels;
}

int64_t cell_at(const PictureInput& input, std::string_view option, PixelArgument pixel) {
  const auto cell = input.grid.patch_of_pixel(pixel.x, pixel.y);
  if (cell) return *cell;
  fail(ErrorKind::kInvalidArgument, "--{} is {},{} but the picture has {} x {} pixels, from 0",
       option, pixel.x, pixel.y, input.picture.width, input.picture.height);
}

int64_t centre_cell(const DetectRun& run, const PictureBox& box) {
  const auto middle = [](double from, double to, int64_t size) {
    return std::clamp<int64_t>(static_cast<int64_t>((from + to) / 2), 0, size - 1);
  };
  return cell_at(run.input, "at",
                 {middle(box.left, box.right, run.input.picture.width),
                  middle(box.top, box.bottom, run.input.picture.height)});
}

CellMark mark_of(const DetectRun& run, int64_t cell) {
  return {run.grid().row_of(cell), run.grid().col_of(cell)};
}

std::string cell_name(const DetectRun& run, int64_t cell) {
  const CellMark mark = mark_of(run, cell);
  return fmt::format("cell {},{}", mark.row, mark.col);
}

std::shared_ptr<const AttentionRecord> record_for(const DetectRun& run, SiteKind kind) {
  ViewChoice choice{.kind = kind};
  if (run.args.has("layer")) choice.layer = run.args.integer("layer");
  return chosen_record(run.result.run, choice);
}

HeadChoice head_of(const Args& args) {
  return args.has("head") ? parse_head(args["head"]) : HeadChoice{};
}

ImageBox box_for(const DetectRun& run, const DetectedObject& object) {
  const PictureSize extent = run.input.grid.filled_size();
  const auto width = static_cast<double>(extent.width);
  const auto height = static_cast<double>(extent.height);
  return {.left = object.box.left / width,
          .top = object.box.top / height,
          .right = object.box.right / width,
          .bottom = object.box.bottom / height,
          .label = fmt::format("{} {} {:.2f}", object.number, object.name, object.score),
          .color = object.number - 1};
}

ImageFigure picture_figure(const DetectRun& run, int64_t longest) {
  ImageFigure figure;
  figure.grid_name = "cells";
  if (run.grid().patches() > kMostOutlined) figure.contour_mass = 0;
  figure.picture = picture_under(run.input);
  const int64_t side = std::max(figure.picture.width, figure.picture.height);
  if (side > longest) {
    figure.picture = resize(figure.picture,
                            {std::max<int64_t>(1, figure.picture.width * longest / side),
                             std::max<int64_t>(1, figure.picture.height * longest / side)},
                            ResizeFilter::kBicubic, ResizeRule::kPillow);
  }
  return figure;
}

ImagePanel map_panel(const DetectRun& run, std::string title, const std::vector<double>& weights) {
  const GridShape grid = run.grid();
  std::vector<float> values(weights.begin(), weights.end());
  return {.title = std::move(title), .weights = Tensor::from({grid.rows, grid.cols}, values)};
}

ColorScale visible_scale(std::vector<float> weights, std::string& note) {
  constexpr size_t kLarge = 10'000;
  const double largest = largest_of(weights);
  if (weights.size() < kLarge) return scale_to(largest);
  const auto cut = weights.end() - static_cast<ptrdiff_t>(weights.size() / 500);
  std::nth_element(weights.begin(), cut, weights.end());
  const double high = *cut;
  if (!(high > 0 && high < largest / 2)) return scale_to(largest);
  note = fmt::format(" · colours end at {:.2g}, the largest weight is {:.2g}", high, largest);
  return {0, high};
}

Json objects_json(const DetectRun& run) {
  Json json = Json::object();
  json.set("model", run.engine.name());
  Json size = Json::array();
  size.push_back(run.input.picture.width);
  size.push_back(run.input.picture.height);
  json.set("picture", std::move(size));
  json.set("threshold", run.threshold);
  Json objects = Json::array();
  for (const DetectedObject& object : run.objects) {
    Json entry = Json::object();
    entry.set("object", object.number);
    entry.set("query", object.query);
    entry.set("label", object.name);
    entry.set("label_id", object.label);
    entry.set("score", object.score);
    entry.set("box_xyxy", Json::array_of(std::vector<double>{object.box.left, object.box.top,
                                                             object.box.right, object.box.bottom}));
    objects.push_back(std::move(entry));
  }
  json.set("objects", std::move(objects));
  return json;
}

Json metadata_for(const DetectRun& run, SiteId site) {
  Json metadata = Json::object();
  metadata.set("version", version());
  metadata.set("model", run.result.run.model);
  metadata.set("model_hash", run.result.run.model_hash);
  metadata.set("site", to_string(site));
  metadata.set("grid_rows", run.grid().rows);
  metadata.set("grid_cols", run.grid().cols);
  metadata.set("threshold", run.threshold);
  return metadata;
}

std::string objects_text(const DetectRun& run, const Terminal& terminal) {
  if (run.objects.empty()) {
    const auto all = found_objects(run.engine, run.result, run.input.picture.size(), -1);
    return fmt::format("no object: of {} queries {} is best with {:.2f}, below {:g}\n", all.size(),
                       printable(all.front().name), all.front().score, run.threshold) +
           terminal.dim("try a lower --threshold; what follows is attention without objects\n") +
           "\n";
  }
  std::string text = terminal.bold(fmt::format("{} object{}", run.objects.size(),
                                               run.objects.size() == 1 ? "" : "s")) +
                     terminal.dim(fmt::format(" with a score above {:g}", run.threshold)) + "\n";
  int widest = 0;
  for (const DetectedObject& object : run.objects) {
    widest = std::max(widest, static_cast<int>(printable(object.name).size()));
  }
  for (const DetectedObject& object : run.objects) {
    const PictureBox& box = object.box;
    text += fmt::format("{:>4}  {}  {:.3f}  ", object.number,
                        padded_right(printable(object.name), widest), object.score);
    text += terminal.dim(fmt::format("{:.0f},{:.0f} to {:.0f},{:.0f}  query {}", box.left, box.top,
                                     box.right, box.bottom, object.query)) +
            "\n";
  }
  return text + "\n";
}

}  // namespace fovea
