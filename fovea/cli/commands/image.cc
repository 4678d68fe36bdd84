#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/progress.h"
#include "fovea/cli/draw.h"
#include "fovea/cli/interrupt.h"
#include "fovea/cli/map_options.h"
#include "fovea/cli/map_out.h"
#include "fovea/cli/model_options.h"
#include "fovea/cli/predictions.h"
#include "fovea/cli/terminal.h"
#include "fovea/engine/picture_input.h"
#include "fovea/render/picture_view.h"

namespace fovea {
namespace {

// "480x320".
PictureSize parse_size(const std::string& text) {
  const size_t cross = text.find('x');
  if (cross == text.npos) {
    fail(ErrorKind::kInvalidArgument, "--size is '{}' but a size is WxH, 480x320 say", text);
  }
  const PictureSize size{parse_integer("--size", text.substr(0, cross)),
                         parse_integer("--size", text.substr(cross + 1))};
  if (size.width < 1 || size.height < 1 || size.width > 16384 || size.height > 16384) {
    fail(ErrorKind::kInvalidArgument, "--size is {} but both sides must be 1 to 16384", text);
  }
  return size;
}

PictureChoice picture_choice(const Args& args) {
  PictureChoice choice;
  if (args.has("layer")) choice.layer = args.integer("layer");
  if (args.has("head")) choice.head = parse_head(args["head"]);
  choice.column = args.flag("column");
  if (args.has("mask")) {
    choice.mask = args.real("mask");
    if (!(choice.mask > 0 && choice.mask <= 1)) {
      fail(ErrorKind::kInvalidArgument,
           "--mask is {} but a share of the mass is above 0 and up to 1", args["mask"]);
    }
  }
  return choice;
}

void check(const Args& args) {
  picture_choice(args);
  if (args.has("at")) parse_pixel(args["at"]);
  if (args.has("size")) parse_size(args["size"]);
  if (!args.has("out")) return;
  const std::filesystem::path path = args["out"];
  if (!is_data_suffix(path) && !is_figure_suffix(path)) {
    fail(
        ErrorKind::kInvalidArgument,
        "--out is '{}' but maps of pictures are written to .png, .svg, .pdf, {}; give one of these "
        "suffixes",
        path.string(), data_suffixes());
  }
}

int64_t patch_at(const PictureInput& input, const std::string& at) {
  const auto [x, y] = parse_pixel(at);
  const std::optional<int64_t> patch = input.grid.patch_of_pixel(x, y);
  if (patch) return *patch;
  const bool inside = x >= 0 && y >= 0 && x < input.picture.width && y < input.picture.height;
  fail(ErrorKind::kInvalidArgument, "--at is {},{} but {}", x, y,
       inside ? "the model does not see that pixel: its input is cut to the middle of the picture"
              : fmt::format("the picture has {} x {} pixels, counted from 0", input.picture.width,
                            input.picture.height));
}

Axis numbered_axis(const char* name, int64_t count) {
  Axis axis{.name = name};
  for (int64_t i = 0; i < count; ++i) axis.positions.push_back({.text = std::to_string(i)});
  return axis;
}

MapData data_of(const PatchMaps& maps, const FigureText& text) {
  const auto count = static_cast<int64_t>(maps.maps.size());
  MapData data{.rows = numbered_axis("grid rows", maps.grid_rows),
               .cols = numbered_axis("grid columns", maps.grid_cols),
               .text = text};
  data.weights = Tensor::uninitialized({count, maps.grid_rows, maps.grid_cols});
  float* out = data.weights.mutable_values<float>().data();
  for (const PatchMap& map : maps.maps) {
    data.panels.push_back(map.title);
    for (const double weight : map.weights) *out++ = static_cast<float>(weight);
  }
  return data;
}

Json to_json(const PatchMaps& maps, const PictureInput& input, const MapData& data) {
  Json json = map_json(data);
  json.set("query", maps.query);
  json.set("site", to_string(maps.site));
  Json size = Json::array();
  size.push_back(input.picture.width);
  size.push_back(input.picture.height);
  json.set("picture", std::move(size));
  Json sums = Json::array(), on_patches = Json::array(), masks = Json::array();
  for (const PatchMap& map : maps.maps) {
    sums.push_back(map.sum);
    on_patches.push_back(map.on_patches);
    if (!map.mask) continue;
    Json mask = Json::array();
    for (const uint8_t in : map.mask->cells) mask.push_back(int64_t{in});
    masks.push_back(std::move(mask));
  }
  json.set("sums", std::move(sums));
  json.set("on_patches", std::move(on_patches));
  json.set("masks", std::move(masks));
  return json;
}

void run(const Args& args) {
  check(args);
  const Engine engine = open_engine(args, kDefaultPictureModel);
  std::optional<PictureSize> size;
  if (args.has("size")) size = parse_size(args["size"]);
  const PictureInput input = read_picture_input(engine, args["FILE"], size);
  PictureChoice choice = picture_choice(args);
  if (args.has("at")) choice.patch = patch_at(input, args["at"]);
  const RunResult result =
      engine.run(input.input, {.record = {.values = false}, .logits = LogitRows::kAll});
  print_warnings(result.warnings);
  const PatchMaps maps = patch_maps(result.run, choice);
  const ImageFigure figure = picture_view(result.run, maps, choice, input.picture, input.grid);
  const MapData data = data_of(maps, figure.text);
  if (args.has("out")) {
    const InterruptGuard guard;
    const std::filesystem::path path = args["out"];
    if (path.extension() == ".json") {
      const std::string text = to_json(maps, input, data).dump(1) + "\n";
      write_file_atomic(path, [&](FileWriter& file) { file.write(text); });
    } else if (is_data_suffix(path)) {
      write_map_data(path, data);
    } else {
      write_figure(path, figure, figure_options(args));
    }
  }
  if (args.flag("json")) {
    write_stdout(to_json(maps, input, data).dump(1) + "\n");
  } else if (args.has("out")) {
    write_stdout("wrote " + args["out"] + "\n");
  } else {
    const Terminal terminal = stdout_terminal();
    write_stdout(
        predictions_text(engine, result, terminal) +
        draw(figure, terminal, color_map(args.has("colors") ? args["colors"] : "inferno")));
  }
}

// Those of all verbs that show maps, as far as they suit a picture.
std::vector<Option> shared_options() {
  std::vector<Option> options;
  for (Option& option : map_options()) {
    if (option.name == "head" || option.name == "colors" || option.name == "json" ||
        option.name == "scale" || option.name == "sidecar") {
      options.push_back(std::move(option));
    }
  }
  return options;
}

}  // namespace

Command image_command() {
  return {
      .name = "image",
      .summary = "where each head of a vision model looks in a picture",
      .details =
          "Without --at: what the token in front of the patches, [CLS], attends to, in\n"
          "every head of the last layer. Weights lie on patches, one colour each; the\n"
          "caption says how much of the sum lies on them and not on special tokens.\n"
          "\n"
          "examples:\n"
          "  fovea image photo.jpg\n"
          "  fovea image photo.jpg --at 120,80 --head mean\n"
          "  fovea image photo.jpg --at 120,80 --column\n"
          "  fovea image photo.jpg --mask 0.6 --head mean --out mask.png\n",
      .positionals = {{.name = "FILE", .help = "PNG, JPEG, WebP, PPM or PGM"}},
      .options = joined(
          joined(
              model_options(kDefaultPictureModel),
              {Option::text("at", "X,Y", "a patch, by a pixel of the picture, instead of [CLS]"),
               Option::flag("column", "who attends to it, not what it attends to"),
               Option::integer("layer", "N", "from 0 (default: the last)", 0),
               Option::real("mask", "P",
                            "show the fewest patches that hold this share of the mass, 0.6 say", 0),
               Option::text("size", "WxH",
                            "of the model's input (default: what its preprocessor says)"),
               Option::text("out", "FILE",
                            "write a file: .png .svg .pdf, or the numbers as " + data_suffixes())}),
          shared_options()),
      .run = run};
}

}  // namespace fovea
