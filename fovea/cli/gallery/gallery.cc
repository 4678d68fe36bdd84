#include "fovea/cli/gallery/gallery.h"

#include <fmt/ranges.h>

#include <cstdlib>

#include "fovea/ask/vectors.h"
#include "fovea/base/file.h"
#include "fovea/checkpoint/resolve.h"
#include "fovea/cli/gallery/items.h"
#include "fovea/cli/gallery/kept_session.h"
#include "fovea/cli/gallery/page.h"
#include "fovea/cli/interrupt.h"
#include "fovea/cli/model_options.h"
#include "fovea/cli/outputs.h"
#include "fovea/cli/terminal.h"
#include "fovea/render/figure_file.h"
#include "fovea/render/page.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kExamplesFolder = "examples/";
constexpr std::string_view kModels = "models/";
constexpr std::string_view kOfGallery = "the gallery";

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
std::string command_line(const GalleryItem& item, const fs::path& folder) {
  std::string line = quoted(called_as());
  for (const std::string& word : command_words(item)) {
    const bool elsewhere = is_file_word(word) && !file_exists(word);
    line += " " + quoted(elsewhere ? place_of(word, item.model, folder).string() : word);
  }
  return line;
}

// The input with files where they are.
Json placed_input(const GalleryItem& item, const fs::path& folder) {
  Json input = item.input;
  for (const char* name : {"picture", "text_file", "vectors"}) {
    const Json* file = input.find(name);
    if (file == nullptr) continue;
    input.set(name, place_of(file->as_string(kOfGallery), item.model, folder).string());
  }
  return input;
}

Figure vectors_picture(const std::string& file, const Json& question) {
  const VectorSteps steps = ask_vectors(read_text_file(file), file, question);
  return vector_weights_figure(steps.problem, steps.result, steps.view);
}

void write_session_page(const fs::path& path, const Session& session, const GalleryItem& item) {
  PageOptions options = session.page(parse_question(item.question));
  if (item.question.find("kind") == nullptr) options.view.clear();  // as suits what it shows
  const auto run = session.run();
  print_warnings(run->result().warnings);
  const InterruptGuard guard;
  write_page(path, run->run(), options);
}

Figure answered(const Session& session, const GalleryItem& item) {
  Answer answer = session.ask(parse_question(item.question));
  print_warnings(answer.notes);
  return std::move(answer.figure);
}

void make_picture(const GalleryItem& item, const fs::path& folder, KeptSession& kept) {
  const fs::path path = folder / item.file;
  const Json input = placed_input(item, folder);
  if (is_page_suffix(path)) {
    write_session_page(path, kept.open(item.model, input), item);
    return write_stdout(wrote_page_line(path));
  }
  const Json* vectors = input.find("vectors");
  const Figure figure = vectors != nullptr
                            ? vectors_picture(vectors->as_string(kOfGallery), item.question)
                            : answered(kept.open(item.model, input), item);
  const InterruptGuard guard;
  write_figure(path, figure);
  write_stdout(wrote_line(path));
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

void add_missing(std::vector<MissingModel>& all, const GalleryItem& item) {
  for (MissingModel& missing : all) {
    if (missing.name == item.model) return missing.files.push_back(item.file);
  }
  all.push_back({item.model, {item.file}});
}

PageChapter make_chapter(Chapter chapter, const fs::path& folder, KeptSession& kept,
                         GalleryReport& report) {
  PageChapter page{.chapter = std::move(chapter)};
  for (const GalleryPicture& picture : page.chapter.pictures) {
    const GalleryItem& item = picture.item;
    if (!at_hand(item.model)) {
      add_missing(page.missing, item);
      add_missing(report.missing, item);
      continue;
    }
    make_picture(item, folder, kept);
    page.pictures.push_back({picture, command_line(item, folder), png_size(folder / item.file)});
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
  GalleryItems items = gallery_items();
  KeptSession kept;
  for (Chapter& chapter : items.chapters) {
    page.chapters.push_back(make_chapter(std::move(chapter), folder, kept, report));
  }
  for (const GalleryItem& next : items.next) {
    if (at_hand(next.model)) report.next.push_back(command_line(next, folder));
  }
  report.next.push_back(quoted(called_as()) + " models");
  page.next = report.next;
  constexpr const char* kLearn = "../docs/learn/README.md";
  if (file_exists(folder / kLearn)) page.learn = kLearn;
  const std::string html = gallery_html(page);
  write_file_atomic(folder / "index.html", [&](FileWriter& file) { file.write(html); });
  return report;
}

}  // namespace fovea
