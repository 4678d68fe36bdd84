// Areas of objects out of attention: side by side by where they come from, as a picture, a PNG of
// object numbers and COCO's runs.
#include <fmt/format.h>

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/cli/detect/object_masks.h"
#include "fovea/cli/detect/view.h"
#include "fovea/cli/model_options.h"
#include "fovea/explain/pictures/mask_rle.h"
#include "fovea/render/caption.h"

namespace fovea {
namespace {

constexpr int64_t kLongestMask = 640;
constexpr int64_t kMostMaskNumbers = int64_t{1} << 28;  // of a data file

struct Masks {
  MaskMethod method;
  std::vector<PixelMask> objects;
};

MaskRule rule_of(const Args& args) {
  return args.has("mask-cut") ? parse_mask_rule(args["mask-cut"]) : MaskRule{};
}

// The mask at the size of the figure, which is what can be seen of it.
ImageMask shown_mask(const DetectRun& run, const PixelMask& mask, const Picture& shown,
                     int64_t color) {
  const GridCover cover = cover_of(run.input);
  const double reach_x = static_cast<double>(run.grid().cols) / cover.cols;
  const double reach_y = static_cast<double>(run.grid().rows) / cover.rows;
  ImageMask result{.rows = shown.height, .cols = shown.width, .color = color};
  result.cells.resize(static_cast<size_t>(shown.width * shown.height));
  for (int64_t y = 0; y < shown.height; ++y) {
    const auto row = static_cast<int64_t>((double(y) + 0.5) / double(shown.height) * reach_y *
                                          double(mask.height));
    for (int64_t x = 0; x < shown.width; ++x) {
      const auto col = static_cast<int64_t>((double(x) + 0.5) / double(shown.width) * reach_x *
                                            double(mask.width));
      if (row >= mask.height || col >= mask.width) continue;
      result.cells[static_cast<size_t>(y * shown.width + x)] =
          mask.pixels[static_cast<size_t>(row * mask.width + col)];
    }
  }
  return result;
}

ImageFigure masks_figure(const DetectRun& run, const std::vector<Masks>& all) {
  ImageFigure figure = picture_figure(run, kLongestMask);
  figure.layout = ImageLayout::kPanels;
  figure.panels_across = all.size() > 2 ? 3 : 2;
  for (const Masks& masks : all) {
    ImagePanel panel{.title = title_of(masks.method)};
    for (size_t i = 0; i < run.objects.size(); ++i) {
      const DetectedObject& object = run.objects[i];
      panel.masks.push_back(shown_mask(run, masks.objects[i], figure.picture, object.number - 1));
      panel.boxes.push_back(box_for(run, object));
    }
    figure.panels.push_back(std::move(panel));
  }
  figure.text.title = fmt::format("{} · areas of {} object{} out of attention",
                                  std::filesystem::path(run.engine.name()).filename().string(),
                                  run.objects.size(), run.objects.size() == 1 ? "" : "s");
  const int64_t layer = record_for(run, SiteKind::kEncoderSelf)->site.layer;
  const HeadChoice head = head_of(run.args);
  figure.text.caption = fmt::format(
      "Rows of attention over cells · layer {}, {} · cut at a threshold on the grid, then blended "
      "to pixels{}",
      layer,
      heads_text(head.kind == HeadChoice::Kind::kAll ? HeadChoice{HeadChoice::Kind::kMean} : head,
                 run.engine.facts().main.heads),
      model_note(run.engine));
  figure.text.metadata = objects_json(run);
  return figure;
}

// `json` holds the objects already.
Json masks_json(Json json, const std::vector<DetectedObject>& found,
                const std::vector<Masks>& all) {
  Json methods = Json::array();
  for (const Masks& masks : all) {
    Json method = Json::object();
    method.set("method", title_of(masks.method));
    method.set("from", key_of(masks.method.source));
    if (masks.method.source != MaskSource::kHead) method.set("cut", to_string(masks.method.rule));
    method.set("in_box", masks.method.in_box);
    Json objects = Json::array();
    for (size_t i = 0; i < masks.objects.size(); ++i) {
      Json entry = Json::object();
      entry.set("object", found[i].number);
      entry.set("area", masks.objects[i].count());
      entry.set("segmentation", to_json(encode_mask(masks.objects[i])));
      objects.push_back(std::move(entry));
    }
    method.set("masks", std::move(objects));
    methods.push_back(std::move(method));
  }
  json.set("methods", std::move(methods));
  return json;
}

MapData masks_data(const std::vector<DetectedObject>& found, const Masks& masks,
                   PictureSize picture, const FigureText& text) {
  const auto [width, height] = picture;
  const auto count = static_cast<int64_t>(masks.objects.size());
  if (width * height > kMostMaskNumbers / std::max<int64_t>(count, 1)) {
    fail(ErrorKind::kInvalidArgument,
         "{} masks of {} x {} pixels are too many numbers; write .json or --mask-out", count, width,
         height);
  }
  MapData data{.weights = Tensor({count, height, width}), .text = text};
  const auto add = [](Axis& axis, const char* name, int64_t size) {
    axis.name = name;
    for (int64_t i = 0; i < size; ++i) axis.positions.push_back({.text = std::to_string(i)});
  };
  add(data.rows, "pixel rows", height);
  add(data.cols, "pixel columns", width);
  float* out = data.weights.mutable_values<float>().data();
  for (size_t i = 0; i < masks.objects.size(); ++i) {
    data.panels.push_back(fmt::format("{} {}", found[i].number, found[i].name));
    for (const uint8_t pixel : masks.objects[i].pixels) *out++ = pixel;
  }
  return data;
}

void check_masks(const Args& args) {
  rule_of(args);
  const HeadChoice head = head_of(args);
  if (args.has("head") && head.kind == HeadChoice::Kind::kAll) {
    fail(ErrorKind::kInvalidArgument,
         "--head all gives several maps but a mask comes from one; give a head, mean or max");
  }
  check_mask_out(args);
}

Content make_masks(const DetectRun& run) {
  std::vector<Masks> all;
  for (const MaskSource source : chosen_mask_sources(run.args, run.engine)) {
    const MaskMethod method{source, rule_of(run.args), run.args.flag("in-box"), head_of(run.args)};
    all.push_back({method, object_masks(run, method)});
  }
  const PictureSize size = run.input.picture.size();
  const auto labels = [all, size] { return label_mask_of(all.front().objects, size); };
  if (run.objects.empty()) {
    Content content = detect_objects_view().make(run);
    content.labels = labels;
    return content;
  }
  ImageFigure figure = masks_figure(run, all);
  const FigureText text = figure.text;
  return {
      std::move(figure),
      [found = run.objects, all, size, text] { return masks_data(found, all.front(), size, text); },
      [objects = objects_json(run), found = run.objects, all] {
        return masks_json(objects, found, all);
      },
      labels};
}

}  // namespace

DetectView detect_masks_view() {
  return {.name = "masks",
          .summary = "areas of the objects out of attention",
          .options = {"masks", "mask-from", "mask-cut", "mask-out", "in-box", "layer", "head"},
          .check = check_masks,
          .make = make_masks,
          .needs_objects = true};
}

}  // namespace fovea
