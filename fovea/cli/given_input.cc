#include "fovea/cli/given_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/vision/picture_format.h"

namespace fovea {
namespace {

constexpr size_t kLargestText = size_t{1} << 28;
constexpr size_t kLongestPath = 4096;

// Also of formats that fovea does not read: who gives such a file means a picture.
constexpr std::array<std::string_view, 14> kPictureSuffixes{
    ".png", ".jpg", ".jpeg", ".webp", ".ppm",  ".pgm",  ".pnm",
    ".gif", ".bmp", ".tif",  ".tiff", ".avif", ".heic", ".svg"};

bool may_be_path(std::string_view input) {
  return !input.empty() && input.size() <= kLongestPath && input.find('\0') == input.npos;
}

bool is_picture_file(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return false;
  try {
    return picture_format(MappedFile::open(path)->bytes()) != PictureFormat::kOther;
  } catch (const Error&) {
    return false;  // who reads it as a picture is told why
  }
}

// Who gives the name of a file may mean what it holds.
std::string file_note(const std::string& input) {
  if (!may_be_path(input)) return "";
  std::error_code ignored;
  const auto type = std::filesystem::status(input, ignored).type();
  const bool file = type == std::filesystem::file_type::regular;
  if (!file && type != std::filesystem::file_type::directory) return "";
  return fmt::format("'{}' is read as the text itself; there is a {} of that name{}", input,
                     file ? "file" : "folder", file ? ", which --text-file reads" : "");
}

}  // namespace

bool names_picture(std::string_view input) {
  if (!may_be_path(input)) return false;
  const std::filesystem::path path(input);
  const bool one_word = input.find_first_of(" \t\n") == input.npos;
  return (one_word && std::ranges::count(kPictureSuffixes, lower_suffix(path)) > 0) ||
         is_picture_file(path);
}

GivenInput input_of(const std::string& word) {
  return {names_picture(word) ? GivenInput::Kind::kPicture : GivenInput::Kind::kText, word,
          file_note(word)};
}

GivenInput given_input(const Args& args) {
  const int given = args.has("INPUT") + args.has("text-file") + args.has("inputs");
  if (given != 1) {
    fail(ErrorKind::kInvalidArgument,
         "{} of INPUT, --text-file and --inputs are given; give exactly one", given);
  }
  if (args.has("inputs") && args.has("pair")) {
    fail(ErrorKind::kInvalidArgument,
         "--pair is a second text but --inputs holds token ids; put both into the ids");
  }
  if (args.has("inputs")) return {GivenInput::Kind::kTensors, args["inputs"]};
  return given_source(args);
}

GivenInput given_source(const Args& args) {
  if (args.has("text-file")) return {GivenInput::Kind::kTextFile, args["text-file"]};
  return input_of(args["INPUT"]);
}

std::string source_text(const GivenInput& input) {
  return input.kind == GivenInput::Kind::kTextFile ? read_text_file(input.value, kLargestText)
                                                   : input.value;
}

}  // namespace fovea
