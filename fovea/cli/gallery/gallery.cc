#include "fovea/cli/gallery/gallery.h"

#include <fmt/ranges.h>

#include <cstdlib>

#include "fovea/base/file.h"
#include "fovea/checkpoint/resolve.h"
#include "fovea/cli/detect_verb.h"
#include "fovea/cli/gallery/items.h"
#include "fovea/cli/gallery/page.h"
#include "fovea/cli/model_options.h"
#include "fovea/cli/parse.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kExamplesFolder = "examples/";
constexpr std::string_view kModels = "models/";

bool at_hand(std::string_view model) {
  return model.empty() || is_at_hand(model);
}

// How the user started the program: ./run says so of itself.
std::string called_as() {
  const char* name = std::getenv("FOVEA_CALLED_AS");
  return name != nullptr && *name != '\0' ? name : "fovea";
}

// A word as one would type it in a shell.
std::string quoted(const std::string& word) {
  if (word.find_first_of(" \"'`$&|;<>()[]{}*?!#~\\") == std::string::npos) return word;
  std::string text = "\"";
  for (const char c : word) {
    if (std::string_view("\"$`\\").find(c) != std::string_view::npos) text += '\\';
    text += c;
  }
  return text + "\"";
}

// Where a file of the examples or of the bundled models really is.
fs::path place_of(const std::string& word, const std::string& model, const fs::path& folder) {
  if (word.starts_with(kExamplesFolder)) return folder / word;
  return resolve_model(model).folder.parent_path() / word.substr(kModels.size());
}

bool is_file_word(const std::string& word) {
  return word.starts_with(kExamplesFolder) || word.starts_with(kModels);
}

// As one would type it here: files by their short names where these lead to them.
std::string command_line(const std::vector<std::string>& arguments, const std::string& model,
                         const fs::path& folder) {
  std::string line = quoted(called_as());
  for (const std::string& word : arguments) {
    const bool elsewhere = is_file_word(word) && !file_exists(word);
    line += " " + quoted(elsewhere ? place_of(word, model, folder).string() : word);
  }
  return line;
}

// The verb itself, with files where they are. Pictures of objects that follow each other are of one
// run, which is kept.
void run_gallery_verb(const GalleryPicture& picture, const fs::path& folder, KeptSession& kept) {
  std::vector<std::string> arguments(picture.arguments.begin() + 1, picture.arguments.end());
  for (std::string& word : arguments) {
    if (is_file_word(word)) word = place_of(word, picture.model, folder).string();
  }
  arguments.insert(arguments.end(), {"--out", (folder / picture.file).string()});
  for (const Command& command : all_commands()) {
    if (command.name != picture.arguments.front()) continue;
    const Args args = parse_command(command, arguments).args;
    command.name == "detect" ? detect(args, kept) : command.run(args);
  }
}

// In pixels, out of the file's header; 0 x 0 of what is no PNG.
PixelSize png_size(const fs::path& path) {
  constexpr size_t kWidthAt = 16, kHeightAt = 20, kHeader = 24;
  const std::string bytes = read_text_file(path);
  if (path.extension() != ".png" || bytes.size() < kHeader) return {};
  const auto number = [&](size_t at) {
    int64_t value = 0;
    for (size_t i = 0; i < 4; ++i) value = value * 256 + static_cast<uint8_t>(bytes[at + i]);
    return value;
  };
  return {number(kWidthAt), number(kHeightAt)};
}

void add_missing(std::vector<MissingModel>& all, const GalleryPicture& picture) {
  for (MissingModel& missing : all) {
    if (missing.name == picture.model) return missing.files.push_back(picture.file);
  }
  all.push_back({picture.model, {picture.file}});
}

PageChapter make_chapter(Chapter chapter, const fs::path& folder, GalleryReport& report) {
  PageChapter page{.chapter = std::move(chapter)};
  KeptSession kept;
  for (const GalleryPicture& picture : page.chapter.pictures) {
    if (!at_hand(picture.model)) {
      add_missing(page.missing, picture);
      add_missing(report.missing, picture);
      continue;
    }
    run_gallery_verb(picture, folder, kept);
    page.pictures.push_back(
        {picture, command_line(picture.arguments, picture.model, folder) + " --out " + picture.file,
         png_size(folder / picture.file)});
    ++report.pictures;
  }
  return page;
}

}  // namespace

std::string missing_text(const MissingModel& missing) {
  const bool one = missing.files.size() == 1;
  return fmt::format("{} need{} the model {}, which is not on this machine",
                     fmt::join(missing.files, ", "), one ? "s" : "", missing.name);
}

GalleryReport make_gallery(const fs::path& folder) {
  GalleryReport report;
  GalleryPage page;
  for (Chapter& chapter : gallery_chapters()) {
    page.chapters.push_back(make_chapter(std::move(chapter), folder, report));
  }
  for (const NextCommand& next : next_commands()) {
    if (at_hand(next.model)) {
      report.next.push_back(command_line(next.arguments, next.model, folder));
    }
  }
  page.next = report.next;
  constexpr const char* kLearn = "../docs/learn/README.md";
  if (file_exists(folder / kLearn)) page.learn = kLearn;
  const std::string html = gallery_html(page);
  write_file_atomic(folder / "index.html", [&](FileWriter& file) { file.write(html); });
  return report;
}

std::vector<Chapter> gallery_chapters() {
  std::vector<Chapter> chapters = text_chapters();
  for (Chapter& chapter : picture_chapters()) chapters.push_back(std::move(chapter));
  return chapters;
}

std::vector<NextCommand> next_commands() {
  return {{{"text", "Your own sentence.", "--token", "own"}, std::string(kDefaultTextModel)},
          {{"text", "Your own sentence.", "--out", "page.html"}, std::string(kDefaultTextModel)},
          {{"translate", "Where is the station?", "--out", "alignment.png"},
           std::string(kDefaultTranslationModel)},
          {{"explain", "models/scenes-vit/demo/scene-3.png", "--out", "why.png"},
           std::string(kDefaultPictureModel)},
          {{"models"}, ""}};
}

}  // namespace fovea
