#include "fovea/cli/picture_options.h"

#include <fmt/format.h>

#include <algorithm>

#include "fovea/ask/picture_answer.h"
#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/cli/map_options.h"

namespace fovea {
namespace {

constexpr int64_t kLongestSide = 16384;

void refuse_text_options(const Engine& engine, const GivenInput& given, const Args& args) {
  for (const char* name : {"pair", "target", "from", "to"}) {
    if (args.has(name)) {
      fail(ErrorKind::kInvalidArgument,
           "--{} goes with a text but {} is run on the picture '{}'; leave it out", name,
           engine.name(), given.value);
    }
  }
}

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

std::optional<PictureInput> find_picture_input(const Engine& engine, const GivenInput& given,
                                               const Args& args) {
  const std::optional<PictureSize> size = picture_size(args);
  const ModelFacts& facts = engine.facts();
  const bool named = given.kind == GivenInput::Kind::kPicture;
  // A model that reads no texts means a file, whatever its name.
  const bool picture = facts.takes_pixels() &&
                       (named || (given.kind == GivenInput::Kind::kText && !facts.takes_text()));
  if (!picture) {
    if (named && file_exists(given.value)) {
      fail(ErrorKind::kInvalidArgument,
           "INPUT is the picture '{}' but {} reads text; take a model that sees pictures, or give "
           "a text",
           given.value, engine.name());
    }
    if (size) {
      fail(ErrorKind::kInvalidArgument,
           "--size is for picture files but {} is not given one; leave it out", engine.name());
    }
    return {};
  }
  refuse_text_options(engine, given, args);
  if (!named && !file_exists(given.value)) {
    fail(ErrorKind::kInvalidArgument,
         "INPUT is '{}' but {} sees pictures and reads no text, and there is no such file; give it "
         "a picture file",
         given.value, engine.name());
  }
  return read_picture_input(engine, given.value, size);
}

int64_t patch_at(const PictureInput& input, std::string_view at) {
  const auto [x, y] = parse_pixel(at);
  return patch_at(input.grid, PictureSpot{x, y});
}

}  // namespace fovea
