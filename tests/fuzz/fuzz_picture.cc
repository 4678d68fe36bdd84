#include "fovea/vision/decode.h"
#include "fovea/vision/preprocessor.h"
#include "fuzz/fuzz_touch.h"

namespace {

// Small limits: what is looked for is memory that is not ours, not memory that is merely large.
constexpr fovea::PictureLimits kLimits{.most_pixels = 1 << 16, .longest_side = 4096};

fovea::Preprocessor preprocessor(const char* model_type, const char* json) {
  return fovea::Preprocessor(
      fovea::parse_preprocessor_config(fovea::Json::parse(json, "config"), "config", model_type));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const fovea::Preprocessor kCropped =
      preprocessor("clip", R"({"size": 24, "crop_size": 20})");
  static const fovea::Preprocessor kFloats = preprocessor("dinov3_vit", R"({"size": 17})");
  try {
    const auto decoded =
        fovea::decode_picture({reinterpret_cast<const std::byte*>(data), size}, "input", kLimits);
    const fovea::Picture& picture = decoded.picture;
    fovea::require(picture.width * picture.height <= kLimits.most_pixels);
    fovea::require(picture.bytes.size() == static_cast<size_t>(picture.width * picture.height * 3));
    const auto prepared = kCropped.prepare(picture);
    fovea::touch(prepared.pixel_values);
    fovea::touch(kFloats.prepare(picture).pixel_values);
    const auto grid = fovea::PatchGrid::of_patches(prepared.window, 4);
    const auto patch = grid.patch_of_pixel(picture.width / 2, picture.height / 2);
    if (patch) fovea::require(!grid.rectangle(*patch).empty());
  } catch (const fovea::Error&) {
  }
  return 0;
}
