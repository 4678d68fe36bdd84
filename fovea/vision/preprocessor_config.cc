#include "fovea/vision/preprocessor_config.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "fovea/base/error.h"

namespace fovea {
namespace {

constexpr std::array<double, 3> kHalf{0.5, 0.5, 0.5};
constexpr std::array<double, 3> kImageNetMean{0.485, 0.456, 0.406};
constexpr std::array<double, 3> kImageNetStd{0.229, 0.224, 0.225};
constexpr std::array<double, 3> kClipMean{0.48145466, 0.4578275, 0.40821073};
constexpr std::array<double, 3> kClipStd{0.26862954, 0.26130258, 0.27577711};
constexpr int64_t kLargestSide = 1 << 20;
constexpr std::string_view kDetr = "DetrImageProcessor";

struct ProcessorClass {
  std::string_view name;
  PreprocessorConfig defaults;
  bool number_is_square = true;  // a `size` that is one number: both sides, or the shorter one
};

// Class attributes of transformers/models/*/image_processing_*.py.
std::vector<ProcessorClass> processor_classes() {
  const ResizeTarget square{.width = 224, .height = 224};
  const ResizeTarget short_side{.shortest_edge = 224};
  const PictureSize crop{224, 224};
  const PreprocessorConfig vit{.size = square, .mean = kHalf, .std = kHalf};
  PreprocessorConfig deit = vit;
  deit.size = {.width = 256, .height = 256};
  deit.filter = ResizeFilter::kBicubic;
  deit.do_center_crop = true;
  deit.crop_size = crop;
  PreprocessorConfig siglip = vit;
  siglip.filter = ResizeFilter::kBicubic;
  PreprocessorConfig clip = deit;
  clip.size = short_side;
  clip.mean = kClipMean;
  clip.std = kClipStd;
  const PreprocessorConfig dinov3{
      .size = square, .resizes_floats = true, .mean = kImageNetMean, .std = kImageNetStd};
  const PreprocessorConfig detr{.size = {.shortest_edge = 800, .longest_edge = 1333},
                                .mean = kImageNetMean,
                                .std = kImageNetStd,
                                .gives_mask = true};
  return {{"ViTImageProcessor", vit},
          {"DeiTImageProcessor", deit},
          {"BitImageProcessor", clip, false},
          {"CLIPImageProcessor", clip, false},
          {"SiglipImageProcessor", siglip, false},
          {"DINOv3ViTImageProcessor", dinov3},
          {kDetr, detr, false}};
}

std::string_view class_of_model_type(std::string_view model_type) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 16> kClasses{{
      {"vit", "ViTImageProcessor"},
      {"vit_mae", "ViTImageProcessor"},
      {"vit_msn", "ViTImageProcessor"},
      {"ijepa", "ViTImageProcessor"},
      {"deit", "DeiTImageProcessor"},
      {"dinov2", "BitImageProcessor"},
      {"dinov2_with_registers", "BitImageProcessor"},
      {"dinov3_vit", "DINOv3ViTImageProcessor"},
      {"clip", "CLIPImageProcessor"},
      {"clip_vision_model", "CLIPImageProcessor"},
      {"siglip", "SiglipImageProcessor"},
      {"siglip_vision_model", "SiglipImageProcessor"},
      {"detr", "DetrImageProcessor"},
      {"table-transformer", "DetrImageProcessor"},
      {"swin", "ViTImageProcessor"},
      {"bit", "BitImageProcessor"},
  }};
  const auto* found =
      std::ranges::find(kClasses, model_type, [](const auto& item) { return item.first; });
  return found == kClasses.end() ? std::string_view() : found->second;
}

// The members of one file. A number or a text that is null counts as missing; a question that is
// answered with null is answered with no, as transformers has it.
class Members {
 public:
  Members(const Json& json, std::string_view source) : json_(json), source_(source) {
    json.as_object(source);
  }

  const Json* find(std::string_view key) const {
    const Json* value = json_.find(key);
    return value == nullptr || value->is_null() ? nullptr : value;
  }
  std::string where(std::string_view key) const { return fmt::format("{}: {}", source_, key); }

  void read(std::string_view key, bool& value) const {
    const Json* given = json_.find(key);
    if (given != nullptr) value = !given->is_null() && given->as_bool(where(key));
  }
  void read(std::string_view key, double& value) const {
    const Json* given = find(key);
    if (given == nullptr) return;
    value = given->as_double(where(key));
    if (!std::isfinite(value)) fail(ErrorKind::kBadFile, "{} is not a number", where(key));
  }
  void read(std::string_view key, std::array<double, 3>& values) const {
    const Json* given = find(key);
    if (given == nullptr) return;
    if (given->is_number()) {
      values.fill(given->as_double(where(key)));
      return;
    }
    const Json::Array& items = given->as_array(where(key));
    if (items.size() != values.size()) {
      fail(ErrorKind::kBadFile, "{} has {} numbers but a picture has 3 channels", where(key),
           items.size());
    }
    for (size_t i = 0; i < 3; ++i) values[i] = items[i].as_double(where(key));
  }
  std::string text(std::string_view key) const {
    const Json* given = find(key);
    return given == nullptr ? "" : given->as_string(where(key));
  }
  int64_t side(const Json& value, std::string_view key) const {
    const int64_t side = value.as_int(where(key));
    if (side < 1 || side > kLargestSide) {
      fail(ErrorKind::kBadFile, "{} is {} pixels, not 1 to {}", where(key), side, kLargestSide);
    }
    return side;
  }

 private:
  const Json& json_;
  std::string_view source_;
};

std::string without_suffix(std::string name, std::string_view suffix) {
  if (name.ends_with(suffix)) name.resize(name.size() - suffix.size());
  return name;
}

// The class that is named, here or by older files as a feature extractor, or the model's.
std::string class_name(const Members& members, std::string_view model_type) {
  std::string name = members.text("image_processor_type");
  if (name.empty()) {
    name = members.text("feature_extractor_type");
    if (const size_t at = name.find("FeatureExtractor"); at != std::string::npos) {
      name.replace(at, std::string_view("FeatureExtractor").size(), "ImageProcessor");
    }
  }
  if (name.empty()) name = class_of_model_type(model_type);
  return without_suffix(std::move(name), "Fast");
}

ResizeTarget read_size_members(const Members& members, const Json& size, std::string_view key) {
  ResizeTarget target;
  const std::array<std::pair<std::string_view, int64_t*>, 6> places{
      {{"width", &target.width},
       {"height", &target.height},
       {"shortest_edge", &target.shortest_edge},
       {"longest_edge", &target.longest_edge},
       {"max_width", &target.max_width},
       {"max_height", &target.max_height}}};
  for (const auto& [name, place] : places) {
    const Json* value = size.find(name);
    if (value != nullptr && !value->is_null()) *place = members.side(*value, key);
  }
  const bool whole = (target.width > 0 && target.height > 0) || target.shortest_edge > 0 ||
                     (target.max_width > 0 && target.max_height > 0);
  if (!whole) {
    fail(ErrorKind::kUnsupported,
         "{} is {}; fovea knows height and width, shortest_edge (and longest_edge), max_height and "
         "max_width",
         members.where(key), size.dump());
  }
  return target;
}

ResizeTarget read_size(const Members& members, std::string_view key, const Json& size,
                       bool number_is_square) {
  if (size.is_object()) return read_size_members(members, size, key);
  if (size.is_array()) {
    const Json::Array& items = size.as_array(members.where(key));
    if (items.size() != 2) {
      fail(ErrorKind::kBadFile, "{} has {} numbers, not 2: height and width", members.where(key),
           items.size());
    }
    return {.width = members.side(items[1], key), .height = members.side(items[0], key)};
  }
  const int64_t side = members.side(size, key);
  if (number_is_square) return {.width = side, .height = side};
  return {.shortest_edge = side};
}

// `crop_size` and `pad_size`, which must give both sides.
PictureSize read_both_sides(const Members& members, std::string_view key, const Json& json) {
  const ResizeTarget target = read_size(members, key, json, /*number_is_square=*/true);
  if (target.width == 0 || target.height == 0) {
    fail(ErrorKind::kBadFile, "{} is {} but needs a height and a width", members.where(key),
         json.dump());
  }
  return {target.width, target.height};
}

void read_detr_members(const Members& members, PreprocessorConfig& config) {
  members.read("pad_and_return_pixel_mask", config.gives_mask);
  members.read("do_pad", config.gives_mask);
  config.do_center_crop = false;
  if (const Json* size = members.find("size"); size != nullptr && size->is_number()) {
    const Json* longest = members.find("max_size");
    config.size.longest_edge = longest == nullptr ? 1333 : members.side(*longest, "max_size");
  }
}

void read_members(const Members& members, const ProcessorClass& known, PreprocessorConfig& config) {
  members.read("do_resize", config.do_resize);
  members.read("do_center_crop", config.do_center_crop);
  members.read("do_rescale", config.do_rescale);
  members.read("rescale_factor", config.rescale_factor);
  members.read("do_normalize", config.do_normalize);
  members.read("image_mean", config.mean);
  members.read("image_std", config.std);
  if (const Json* size = members.find("size")) {
    bool number_is_square = known.number_is_square;
    if (known.name != kDetr) members.read("default_to_square", number_is_square);
    config.size = read_size(members, "size", *size, number_is_square);
  }
  if (const Json* size = members.find("crop_size")) {
    config.crop_size = read_both_sides(members, "crop_size", *size);
  }
  if (const Json* resample = members.find("resample")) {
    const int64_t code = resample->as_int(members.where("resample"));
    if (code < 0 || code > 5) {
      fail(ErrorKind::kBadFile, "{} is {}, not one of Pillow's filters 0 to 5",
           members.where("resample"), code);
    }
    config.filter = static_cast<ResizeFilter>(code);
  }
  config.resizes_floats &= config.do_rescale;  // without it they are bytes still
  if (known.name == kDetr) read_detr_members(members, config);
  bool pads = config.gives_mask;
  members.read("do_pad", pads);
  if (const Json* size = members.find("pad_size"); size != nullptr && pads) {
    config.pad_size = read_both_sides(members, "pad_size", *size);
  }
}

void check(const Members& members, const PreprocessorConfig& config) {
  if (config.do_rescale && config.rescale_factor == 0) {
    fail(ErrorKind::kBadFile, "{} is 0: every picture would be black",
         members.where("rescale_factor"));
  }
  for (const double std : config.std) {
    if (config.do_normalize && std == 0) {
      fail(ErrorKind::kBadFile, "{} is 0, by which pixels cannot be divided",
           members.where("image_std"));
    }
  }
  if (config.do_center_crop && config.crop_size.width == 0) {
    fail(ErrorKind::kBadFile, "{} is missing but do_center_crop is true",
         members.where("crop_size"));
  }
}

}  // namespace

PictureSize ResizeTarget::of(PictureSize original) const {
  const auto old_width = static_cast<double>(original.width);
  const auto old_height = static_cast<double>(original.height);
  if (shortest_edge > 0) {
    const bool wide = original.height <= original.width;
    const double ratio_long = wide ? old_width : old_height;
    const double ratio_short = wide ? old_height : old_width;
    auto edge = static_cast<double>(shortest_edge);  // the shorter side before it is rounded
    int64_t short_side = shortest_edge;
    if (longest_edge > 0) {
      const auto limit = static_cast<double>(longest_edge);
      if (ratio_long / ratio_short * edge > limit) {
        edge = limit * ratio_short / ratio_long;
        short_side = static_cast<int64_t>(std::nearbyint(edge));  // halves to even
      }
      if (std::min(original.width, original.height) == short_side) return original;
    }
    const auto long_side = static_cast<int64_t>(edge * ratio_long / ratio_short);
    return wide ? PictureSize{long_side, short_side} : PictureSize{short_side, long_side};
  }
  if (max_width > 0) {
    const double scale = std::min(static_cast<double>(max_height) / old_height,
                                  static_cast<double>(max_width) / old_width);
    return {static_cast<int64_t>(old_width * scale), static_cast<int64_t>(old_height * scale)};
  }
  return {width, height};
}

PreprocessorConfig parse_preprocessor_config(const Json& json, std::string_view source,
                                             std::string_view model_type) {
  const Json* nested = json.find("image_processor");
  const Members members(nested != nullptr && nested->is_object() ? *nested : json, source);
  const std::string full_name = class_name(members, model_type);
  const std::string name = without_suffix(full_name, "Pil");
  const std::vector<ProcessorClass> classes = processor_classes();
  const auto known = std::ranges::find(classes, name, &ProcessorClass::name);
  if (known == classes.end()) {
    std::string names;
    for (const ProcessorClass& item : classes) names += fmt::format(" {}", item.name);
    fail(ErrorKind::kUnsupported, "{}: image processor '{}' is not known; fovea has{}", source,
         name, names);
  }
  PreprocessorConfig config = known->defaults;
  config.class_name = name;
  config.rule = full_name == name ? ResizeRule::kTorch : ResizeRule::kPillow;
  read_members(members, *known, config);
  check(members, config);
  return config;
}

}  // namespace fovea
