#include <filesystem>
#include <ranges>
#include <set>
#include <vector>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/cli/command.h"
#include "fovea/cli/draw/text.h"
#include "fovea/cli/gallery/examples.h"
#include "fovea/cli/gallery/gallery.h"
#include "fovea/cli/interrupt.h"
#include "fovea/cli/model_options.h"
#include "fovea/cli/terminal.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;

// A folder that is filled: unless it is kept, what was not there before goes again. So a gallery
// that was interrupted, or for which the disk was too small, leaves nothing half made.
class FilledFolder {
 public:
  explicit FilledFolder(fs::path folder) : folder_(std::move(folder)) {
    for (fs::path part = folder_; !part.empty() && !file_exists(part); part = part.parent_path()) {
      made_ = part;  // the outermost folder that is missing
    }
    std::error_code ignored;
    for (const auto& entry : fs::recursive_directory_iterator(folder_, ignored)) {
      before_.insert(entry.path());
    }
  }
  FilledFolder(const FilledFolder&) = delete;
  FilledFolder& operator=(const FilledFolder&) = delete;
  ~FilledFolder() {
    if (kept_) return;
    std::error_code ignored;
    if (!made_.empty()) {
      fs::remove_all(made_, ignored);
      return;
    }
    std::vector<fs::path> now;
    for (const auto& entry : fs::recursive_directory_iterator(folder_, ignored)) {
      if (!before_.contains(entry.path())) now.push_back(entry.path());
    }
    // What a folder holds comes after it.
    for (const fs::path& path : std::views::reverse(now)) fs::remove(path, ignored);
  }
  void keep() { kept_ = true; }

 private:
  fs::path folder_;
  fs::path made_;  // empty: it was there
  std::set<fs::path> before_;
  bool kept_ = false;
};

void run_demo(const Args& args) {
  const fs::path folder = args["out"];
  const InterruptGuard
      guard;  // an interrupt ends the work, not the program before it has cleaned up
  take_closed_pipes_as_errors();
  FilledFolder filled(folder);
  std::error_code error;
  fs::create_directories(folder / "examples", error);
  if (error) {
    fail(ErrorKind::kIo, "{}: this folder cannot be made: {}; choose another with --out",
         folder.string(), error.message());
  }
  for (const Example& example : all_examples()) {
    write_file_atomic(folder / "examples" / example.name,
                      [&](FileWriter& file) { file.write(example.text); });
  }
  const GalleryReport report = make_gallery(folder);
  filled.keep();
  const Terminal terminal = stdout_terminal();
  std::string text;
  for (const MissingModel& missing : report.missing) {
    text += wrapped("left out: " + missing_text(missing) + ".", terminal.width) + "\n";
  }
  if (!report.missing.empty()) {
    text += wrapped(fmt::format("To get {}, where there is a network: `{}`{}, then this again.",
                                report.missing.size() == 1 ? "it" : "them", fetching().command,
                                fetching().where),
                    terminal.width) +
            "\n";
  }
  text +=
      terminal.bold("wrote " + printable((folder / "index.html").string())) +
      fmt::format(", {} pictures and pages\n\nOpen it in a browser. Then try\n", report.pictures);
  for (const std::string& command : report.next) text += "  " + command + "\n";
  write_stdout(text);
}

}  // namespace

Command demo_command() {
  return {.name = "demo",
          .summary = "the gallery: attention of real models as pictures, on one offline page",
          .details =
              "Writes index.html with its pictures, and the examples that `fovea steps` reads.\n"
              "Every picture is made by the command that stands below it.\n",
          .options = {Option::text("out", "DIR", "the folder to write to").with_default("gallery")},
          .run = run_demo};
}

}  // namespace fovea
