#include <filesystem>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/cli/command.h"
#include "fovea/cli/draw/text.h"
#include "fovea/cli/gallery/examples.h"
#include "fovea/cli/gallery/gallery.h"
#include "fovea/cli/model_options.h"
#include "fovea/cli/terminal.h"

namespace fovea {
namespace {

void run_demo(const Args& args) {
  const std::filesystem::path folder = args["out"];
  std::error_code error;
  std::filesystem::create_directories(folder / "examples", error);
  if (error) {
    fail(ErrorKind::kIo, "{}: this folder cannot be made: {}; choose another with --out",
         folder.string(), error.message());
  }
  for (const Example& example : all_examples()) {
    write_file_atomic(folder / "examples" / example.name,
                      [&](FileWriter& file) { file.write(example.text); });
  }
  const GalleryReport report = make_gallery(folder);
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
