#include "fovea/cli/gallery/gallery.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <string_view>

#include "fovea/base/file.h"
#include "fovea/base/markup.h"
#include "fovea/base/version.h"
#include "fovea/checkpoint/resolve.h"
#include "fovea/cli/gallery/items.h"
#include "fovea/cli/parse.h"

namespace fovea {
namespace {

bool at_hand(std::string_view model) {
  return model.empty() || is_at_hand(model);
}

// A word as one would type it in a shell.
std::string quoted(const std::string& word) {
  const bool plain = word.find_first_of(" \"'$&|;<>()*?") == std::string::npos;
  return plain ? word : "\"" + word + "\"";
}

std::string command_line(const GalleryPicture& picture) {
  std::string line = "fovea";
  for (const std::string& word : picture.arguments) line += " " + quoted(word);
  return line + " --out " + picture.file;
}

// The verb itself, in the folder's terms: files that it reads and writes are the gallery's.
void run_verb(const GalleryPicture& picture, const std::filesystem::path& folder) {
  std::vector<std::string> arguments(picture.arguments.begin() + 1, picture.arguments.end());
  for (std::string& word : arguments) {
    if (word.starts_with("examples/")) word = (folder / word).string();
    if (word.starts_with("models/")) {  // wherever the bundled ones lie
      const std::filesystem::path models = resolve_model(picture.model).folder.parent_path();
      word = (models / word.substr(std::string_view("models/").size())).string();
    }
  }
  arguments.insert(arguments.end(), {"--out", (folder / picture.file).string()});
  for (const Command& command : all_commands()) {
    if (command.name == picture.arguments.front()) {
      command.run(parse_command(command, arguments).args);
    }
  }
}

constexpr std::string_view kStyle = R"(
:root { color-scheme: light dark; --ink: #1b1b1f; --soft: #63636b; --line: #e3e3e8; --paper: #fff; --card: #fafafb; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #ececf0; --soft: #a2a2ad; --line: #34343c; --paper: #17171a; --card: #1f1f24; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 60rem; padding: 3rem 1.25rem 5rem; color: var(--ink); background: var(--paper);
  font: 1rem/1.55 system-ui, sans-serif; }
h1 { font-size: 2rem; line-height: 1.2; margin: 0 0 .5rem; }
h2 { font-size: 1.35rem; margin: 3.5rem 0 .75rem; padding-top: 1.5rem; border-top: 1px solid var(--line); }
p { margin: .6rem 0; max-width: 44rem; }
dl { display: grid; grid-template-columns: 9rem 1fr; gap: .4rem 1rem; max-width: 48rem; margin: 1rem 0; }
dt { color: var(--soft); } dd { margin: 0; }
figure { margin: 1.5rem 0; }
img { display: block; max-width: 100%; height: auto; border: 1px solid var(--line); border-radius: 6px; background: #fff; }
figcaption { margin-top: .5rem; color: var(--soft); font-size: .9rem; }
code { font: .85em/1.5 ui-monospace, monospace; background: var(--card); border: 1px solid var(--line); border-radius: 4px;
  padding: .1em .35em; overflow-wrap: anywhere; }
a { color: inherit; }
a.open { display: inline-block; padding: .6rem 1rem; border: 1px solid var(--line); border-radius: 6px; text-decoration: none;
  background: var(--card); }
.row { display: grid; grid-template-columns: repeat(auto-fit, minmax(16rem, 1fr)); gap: 1rem; align-items: start; }
.row figure { margin: 0; }
.missing { color: var(--soft); border-left: 3px solid var(--line); padding-left: .8rem; }
@media (max-width: 36rem) { dl { grid-template-columns: 1fr; gap: 0 0; } dd { margin-bottom: .6rem; } }
)";

std::string picture_html(const GalleryPicture& picture) {
  const std::string command =
      fmt::format("<code>{}</code>", escape_attribute(command_line(picture)));
  const std::string shown =
      picture.file.ends_with(".html")
          ? fmt::format("<a class=\"open\" href=\"{}\">{}</a>", picture.file,
                        escape_attribute(picture.alt))
          : fmt::format("<a href=\"{0}\"><img src=\"{0}\" alt=\"{1}\" loading=\"lazy\"></a>",
                        picture.file, escape_attribute(picture.alt));
  return fmt::format("<figure>{}<figcaption>{}</figcaption></figure>\n", shown, command);
}

std::string chapter_html(const Chapter& chapter, const std::vector<const GalleryPicture*>& made,
                         const std::vector<std::string>& missing) {
  std::string html = fmt::format("<section>\n<h2>{}</h2>\n<p>{}</p>\n",
                                 escape_attribute(chapter.title), escape_attribute(chapter.lead));
  for (const std::string& note : missing) {
    html += fmt::format("<p class=\"missing\">Left out: {}</p>\n", escape_attribute(note));
  }
  std::string pictures;
  for (const GalleryPicture* picture : made) pictures += picture_html(*picture);
  html +=
      chapter.side_by_side ? fmt::format("<div class=\"row\">\n{}</div>\n", pictures) : pictures;
  html += fmt::format(
      "<dl>\n<dt>What you see</dt><dd>{}</dd>\n<dt>How it is computed</dt><dd>{}</dd>\n"
      "<dt>How to read it</dt><dd>{}</dd>\n<dt>What it does not say</dt><dd>{}</dd>\n</dl>\n"
      "</section>\n",
      escape_attribute(chapter.see), escape_attribute(chapter.computed),
      escape_attribute(chapter.read), escape_attribute(chapter.limits));
  return html;
}

}  // namespace

GalleryReport make_gallery(const std::filesystem::path& folder) {
  GalleryReport report;
  std::string body;
  for (const Chapter& chapter : gallery_chapters()) {
    std::vector<const GalleryPicture*> made;
    std::vector<std::string> missing;
    for (const GalleryPicture& picture : chapter.pictures) {
      if (!at_hand(picture.model)) {
        const std::string note =
            fmt::format("{} needs the model {}, which ./run fetches where there is a network",
                        picture.file, picture.model);
        missing.push_back(note);
        report.missing.push_back(note);
        continue;
      }
      run_verb(picture, folder);
      made.push_back(&picture);
      ++report.pictures;
    }
    body += chapter_html(chapter, made, missing);
  }
  const std::string html = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>What a transformer is looking at</title>\n<style>{}</style>\n</head>\n<body>\n"
      "<h1>What a transformer is looking at</h1>\n"
      "<p>Pictures of attention from real models, each made by the command below it. Nothing on "
      "this page is loaded from elsewhere.</p>\n{}"
      "<p class=\"missing\">fovea {}</p>\n</body>\n</html>\n",
      kStyle, body, version());
  write_file_atomic(folder / "index.html", [&](FileWriter& file) { file.write(html); });
  return report;
}

}  // namespace fovea
