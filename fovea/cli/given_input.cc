#include "fovea/cli/given_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/utf8.h"
#include "fovea/capture/array_file.h"
#include "fovea/capture/run_file.h"
#include "fovea/capture/site.h"
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

bool is_file(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
}

bool is_picture_file(const std::filesystem::path& path) {
  if (!is_file(path)) return false;
  try {
    return picture_format(MappedFile::open(path)->bytes()) != PictureFormat::kOther;
  } catch (const Error&) {
    return false;  // who reads it as a picture is told why
  }
}

bool is_run_name(std::string_view word) {
  const std::filesystem::path path(word);
  const bool captured =
      lower_suffix(path) == ".safetensors" && lower_suffix(path.stem()) == ".fovea";
  return may_be_path(word) && word.find_first_of(" \t\n") == word.npos &&
         (captured || is_array_name(path));
}

// Tells a captured run by its name or, if it has another name, by what the file says about itself.
bool is_run_file(const std::filesystem::path& path) {
  if (lower_suffix(path) != ".safetensors" || !is_file(path)) return false;
  if (lower_suffix(path.stem()) == ".fovea") return true;
  try {
    return holds_run(SafetensorsFile::open(path));
  } catch (const Error&) {
    return false;
  }
}

// Weights that another program saved.
bool is_map_file(const std::string& word) {
  if (!may_be_path(word) || !is_file(word)) return false;
  if (is_array_name(word)) return true;
  if (lower_suffix(word) != ".safetensors") return false;
  try {
    return std::ranges::any_of(SafetensorsFile::open(word).names(),
                               [](const std::string& name) { return find_site(name).has_value(); });
  } catch (const Error&) {
    return false;
  }
}

// Other files that fovea knows, and what to do with them instead.
struct KnownFile {
  std::string_view suffix;
  std::string_view what;
  std::string_view advice;
};
constexpr std::string_view kModelAdvice = "name a model with -m and give a text";
constexpr std::string_view kTextAdvice = "--text-file reads what it holds";
constexpr std::string_view kOtherAdvice = "give the text itself";
constexpr std::array<KnownFile, 13> kKnownFiles{
    {{".safetensors", "a file of tensors", "--inputs reads token ids and pixels"},
     {".gguf", "a model", kModelAdvice},
     {".bin", "a file of weights", kModelAdvice},
     {".ckpt", "a file of weights", kModelAdvice},
     {".pt", "a file of weights", kModelAdvice},
     {".pth", "a file of weights", kModelAdvice},
     {".npy", "a file of numbers", kOtherAdvice},
     {".npz", "a file of numbers", kOtherAdvice},
     {".pdf", "a PDF", kOtherAdvice},
     {".zip", "an archive", kOtherAdvice},
     {".csv", "a table", kTextAdvice},
     {".html", "a page", kTextAdvice},
     {".json", "a JSON file", kTextAdvice}}};

// Whether the beginning of a file holds a zero byte and is no UTF-8, as a program or a picture
// does. A text may hold the character U+0000.
bool is_binary_file(const std::filesystem::path& path) {
  constexpr size_t kBeginning = 8192;
  std::ifstream file(path, std::ios::binary);
  std::string bytes(kBeginning, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  constexpr size_t kCut = 4;  // what is read may end within a character
  const size_t invalid = find_invalid_utf8(bytes);
  return bytes.find('\0') != bytes.npos && invalid != bytes.npos && invalid + kCut <= bytes.size();
}

// Who gives the name of a file may mean what it holds, which of a binary file can be no text.
std::string file_note(std::string_view option, const std::string& input) {
  std::error_code ignored;
  const auto type = std::filesystem::status(input, ignored).type();
  const bool file = type == std::filesystem::file_type::regular;
  if (file && is_binary_file(input)) {
    fail(ErrorKind::kInvalidArgument, "{} is '{}', a binary file and no text; {}", option, input,
         kOtherAdvice);
  }
  if (!file && type != std::filesystem::file_type::directory) return "";
  return fmt::format("'{}' is read as the text itself; there is a {} of that name{}", input,
                     file ? "file" : "folder", file ? ", which --text-file reads" : "");
}

bool is_there(const GivenInput& picture) {
  return file_exists(picture.value);
}

[[noreturn]] void refuse_file(std::string_view option, const GivenInput& given,
                              std::string_view needed, std::string_view advice) {
  fail(ErrorKind::kInvalidArgument, "{} is the {} '{}' but {} is needed; {}", option,
       given.kind == GivenInput::Kind::kRun ? "captured run" : "picture", given.value, needed,
       advice);
}

GivenInput taken_input(const Args& args, InputKinds takes) {
  for (const char* name : {"pair", "target"}) {
    const auto value = args.given().find(name);
    if (value == args.given().end()) continue;
    check_is_text(fmt::format("--{}", name), value->second.front());
  }
  if (args.has("text-file")) return {GivenInput::Kind::kTextFile, args["text-file"], takes};
  if (takes == InputKinds::kRuns && is_map_file(args["INPUT"])) {
    return {GivenInput::Kind::kRun, args["INPUT"], takes};
  }
  GivenInput given = input_of("INPUT", args["INPUT"]);
  given.takes = takes;
  // Nobody means the text of such a name: who opens it says that it is not there.
  if (takes == InputKinds::kRuns && is_run_name(args["INPUT"])) given.kind = GivenInput::Kind::kRun;
  if (given.kind == GivenInput::Kind::kRun && takes != InputKinds::kRuns) {
    refuse_file("INPUT", given, takes == InputKinds::kTexts ? "a text" : "a text or a picture",
                "`fovea open` shows it and `fovea explain` explains it");
  }
  if (given.kind == GivenInput::Kind::kPicture && takes == InputKinds::kTexts) {
    if (is_there(given)) {
      refuse_file("INPUT", given, "a text", "`fovea image` shows what a model sees in it");
    }
    given.kind = GivenInput::Kind::kText;
  }
  return given;
}

}  // namespace

bool names_picture(std::string_view input) {
  if (!may_be_path(input)) return false;
  const std::filesystem::path path(input);
  const bool one_word = input.find_first_of(" \t\n") == input.npos;
  const bool suffix = std::ranges::count(kPictureSuffixes, lower_suffix(path)) > 0;
  return (suffix && (one_word || is_file(path))) || is_picture_file(path);
}

GivenInput input_of(std::string_view option, const std::string& word) {
  if (!may_be_path(word)) return {GivenInput::Kind::kText, word};
  if (is_run_file(word)) return {GivenInput::Kind::kRun, word};
  if (names_picture(word)) return {GivenInput::Kind::kPicture, word};
  const auto* const known = std::ranges::find(kKnownFiles, lower_suffix(word), &KnownFile::suffix);
  if (known != kKnownFiles.end() && is_file(word)) {
    fail(ErrorKind::kInvalidArgument, "{} is '{}', {} and no text; {}", option, word, known->what,
         known->advice);
  }
  return {.value = word, .note = file_note(option, word)};
}

void check_is_text(std::string_view option, const std::string& word) {
  const GivenInput given = input_of(option, word);
  const bool picture = given.kind == GivenInput::Kind::kPicture && is_there(given);
  if (picture || given.kind == GivenInput::Kind::kRun) {
    refuse_file(option, given, "a text", kOtherAdvice);
  }
}

GivenInput given_input(const Args& args, InputKinds takes) {
  const int given = args.has("INPUT") + args.has("text-file") + args.has("inputs");
  if (given != 1) {
    fail(ErrorKind::kInvalidArgument,
         "{} of INPUT, --text-file and --inputs are given; give exactly one", given);
  }
  if (args.has("inputs") && args.has("pair")) {
    fail(ErrorKind::kInvalidArgument,
         "--pair is a second text but --inputs holds token ids; put both into the ids");
  }
  if (args.has("inputs")) return {GivenInput::Kind::kTensors, args["inputs"], takes};
  return taken_input(args, takes);
}

GivenInput given_source(const Args& args) {
  return taken_input(args, InputKinds::kTexts);
}

std::string source_text(const GivenInput& input) {
  if (input.kind != GivenInput::Kind::kTextFile) return input.value;
  if (is_file(input.value) && is_binary_file(input.value)) {
    fail(ErrorKind::kBadFile, "{}: is a binary file and no text; give a file of text", input.value);
  }
  return read_text_file(input.value, kLargestText);
}

}  // namespace fovea
