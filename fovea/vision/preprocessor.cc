#include "fovea/vision/preprocessor.h"

#include <algorithm>
#include <utility>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/parallel.h"

namespace fovea {
namespace {

constexpr int64_t kMostInputPixels = int64_t{1} << 26;

void check_resized(PictureSize original, PictureSize resized) {
  if (resized.width < 1 || resized.height < 1) {
    fail(ErrorKind::kInvalidArgument,
         "a picture of {} x {} pixels is too thin: it would become {} x {}; crop it first",
         original.width, original.height, resized.width, resized.height);
  }
  if (resized.width > kMostInputPixels / resized.height) {
    fail(ErrorKind::kInvalidArgument, Field{"size"},
         "a picture of {} x {} pixels would become {} x {}, above the most, {} pixels; crop it "
         "first or give a smaller one",
         original.width, original.height, resized.width, resized.height, kMostInputPixels);
  }
}

// Where a centre crop of `crop` begins in `side`; negative where it is larger. An odd pixel of
// padding goes to the end with torch and to the start with Pillow's processors.
int64_t crop_start(int64_t side, int64_t crop, ResizeRule rule) {
  if (crop <= side) return (side - crop) / 2;
  return -((crop - side + (rule == ResizeRule::kPillow ? 1 : 0)) / 2);
}

// A sample's way from 0 … 255 to what the model takes, in the steps and in the precision of
// transformers: rescaling and normalising become one step where bytes are resized.
class Scale {
 public:
  Scale(const PreprocessorConfig& config, size_t channel) {
    const auto factor = static_cast<float>(config.rescale_factor);
    const bool fused = config.do_rescale && config.do_normalize && !config.resizes_floats;
    if (config.do_rescale && !fused) factor_ = factor;
    if (!config.do_normalize) return;
    mean_ = static_cast<float>(config.mean[channel]);
    std_ = static_cast<float>(config.std[channel]);
    if (fused) {
      const auto inverse = static_cast<float>(1.0 / config.rescale_factor);
      mean_ *= inverse;
      std_ *= inverse;
    }
  }
  float operator()(float value) const { return (value * factor_ - mean_) / std_; }

 private:
  float factor_ = 1;
  float mean_ = 0;
  float std_ = 1;
};

// The window's part of a resized picture, channel by channel. `crop` is what the picture and the
// zeros around it fill; the rest of the window is padding after normalising.
template <typename Sample>
Tensor fill_planes(const Sample* samples, const PictureWindow& window, PictureSize crop,
                   const PreprocessorConfig& config) {
  const PictureSize input = window.input;
  const PictureSize resized = window.resized;
  Tensor planes({3, input.height, input.width});
  const std::span<float> values = planes.mutable_values<float>();
  parallel_for(3 * crop.height, [&](int64_t line) {
    const int64_t channel = line / crop.height;
    const int64_t y = line % crop.height;
    const Scale scale(config, static_cast<size_t>(channel));
    float* row = values.data() + (channel * input.height + y) * input.width;
    const int64_t source_y = y + window.top;
    const Sample* source = samples + source_y * resized.width * 3 + channel;
    const bool inside = source_y >= 0 && source_y < resized.height;
    for (int64_t x = 0; x < crop.width; ++x) {
      const int64_t source_x = x + window.left;
      const bool shown = inside && source_x >= 0 && source_x < resized.width;
      row[x] = scale(shown ? static_cast<float>(source[source_x * 3]) : 0.0F);
    }
  });
  return planes;
}

Tensor pixel_mask(PictureSize input, PictureSize shown) {
  Tensor mask({input.height, input.width}, DType::kI64);
  const std::span<int64_t> values = mask.mutable_values<int64_t>();
  for (int64_t y = 0; y < shown.height; ++y) {
    std::fill_n(values.data() + y * input.width, shown.width, 1);
  }
  return mask;
}

}  // namespace

Preprocessor Preprocessor::open(const std::filesystem::path& folder, std::string_view model_type) {
  constexpr size_t kLargestFile = size_t{1} << 20;
  for (const char* name : {"processor_config.json", "preprocessor_config.json"}) {
    const std::filesystem::path path = folder / name;
    if (!file_exists(path)) continue;
    const Json json = Json::parse(read_text_file(path, kLargestFile), path.string());
    // A processor_config.json may speak of text alone.
    if (std::string_view(name) == "processor_config.json" &&
        json.find("image_processor") == nullptr) {
      continue;
    }
    return Preprocessor(parse_preprocessor_config(json, path.string(), model_type));
  }
  fail(ErrorKind::kNotFound,
       "{}: has no preprocessor_config.json, which says how pictures are prepared; get the "
       "checkpoint again",
       folder.string());
}

Preprocessor Preprocessor::with_size(PictureSize size) const {
  PreprocessorConfig config = config_;
  config.do_resize = true;
  config.size = {.width = size.width, .height = size.height};
  config.do_center_crop = false;
  config.pad_size.reset();
  return Preprocessor(std::move(config));
}

PictureWindow Preprocessor::window(PictureSize original) const {
  PictureWindow window{.original = original, .resized = original};
  if (config_.do_resize) window.resized = config_.size.of(original);
  check_resized(original, window.resized);
  window.input = window.resized;
  if (config_.do_center_crop) {
    window.input = config_.crop_size;
    window.left = crop_start(window.resized.width, window.input.width, config_.rule);
    window.top = crop_start(window.resized.height, window.input.height, config_.rule);
  }
  if (config_.pad_size) {
    const PictureSize padded = *config_.pad_size;
    if (padded.width < window.input.width || padded.height < window.input.height) {
      fail(ErrorKind::kInvalidArgument,
           "a picture of {} x {} pixels cannot be padded to pad_size {} x {}; make it smaller",
           window.input.width, window.input.height, padded.width, padded.height);
    }
    window.input = padded;
  }
  check_resized(original, window.input);
  return window;
}

PreparedPicture Preprocessor::prepare(const Picture& picture) const {
  PreparedPicture prepared{.window = window(picture.size())};
  const PictureWindow& window = prepared.window;
  const PictureSize crop = config_.do_center_crop ? config_.crop_size : window.resized;
  if (config_.resizes_floats) {
    const FloatPicture resized = resize_to_floats(picture, window.resized, config_.filter);
    prepared.pixel_values = fill_planes(resized.values.data(), window, crop, config_);
  } else {
    const Picture resized = resize(picture, window.resized, config_.filter, config_.rule);
    prepared.pixel_values = fill_planes(resized.bytes.data(), window, crop, config_);
  }
  if (config_.gives_mask) prepared.pixel_mask = pixel_mask(window.input, crop);
  return prepared;
}

}  // namespace fovea
