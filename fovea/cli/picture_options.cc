#include "fovea/cli/picture_options.h"

#include "fovea/base/error.h"

namespace fovea {

Option size_option() {
  return Option::text("size", "WxH", "of the model's input (default: what its preprocessor says)");
}

std::optional<PictureSize> size_of(const Args& args) {
  if (!args.has("size")) return {};
  const std::string& text = args["size"];
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

}  // namespace fovea
