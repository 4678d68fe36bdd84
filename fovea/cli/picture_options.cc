#include "fovea/cli/picture_options.h"

#include <algorithm>

#include "fovea/base/error.h"

namespace fovea {
namespace {

constexpr int64_t kLongestSide = 16384;

}  // namespace

Positional any_input_positional() {
  return {.name = "INPUT",
          .help = "the text, in quotes, or a picture file for a model that sees pictures",
          .required = false};
}

std::vector<Option> picture_options() {
  return {Option::text("size", "WxH",
                       "of a picture as the model takes it (default: what its preprocessor says)")};
}

std::optional<PictureSize> picture_size(const Args& args) {
  if (!args.has("size")) return {};
  const std::string& text = args["size"];
  const size_t cross = text.find('x');
  if (cross == text.npos) {
    fail(ErrorKind::kInvalidArgument, "--size is '{}' but a size is WxH, 480x320 say", text);
  }
  const PictureSize size{parse_integer("--size", text.substr(0, cross)),
                         parse_integer("--size", text.substr(cross + 1))};
  if (size.width < 1 || size.height < 1 || std::max(size.width, size.height) > kLongestSide) {
    fail(ErrorKind::kInvalidArgument, "--size is {} but both sides must be 1 to {}", text,
         kLongestSide);
  }
  return size;
}

std::string_view default_model_for(const GivenInput& given, std::string_view text_model) {
  return given.kind == GivenInput::Kind::kPicture ? kDefaultPictureModel : text_model;
}

}  // namespace fovea
