#include "fovea/cli/gallery/page.h"

#include <fmt/ranges.h>

#include "fovea/base/markup.h"
#include "fovea/base/version.h"
#include "fovea/cli/model_options.h"

namespace fovea {
namespace {

constexpr std::string_view kGalleryStyle = R"(
:root { color-scheme: light dark; --ink: #1b1b1f; --soft: #5f5f69; --line: #e4e4ea; --paper: #fff; --card: #f7f7f9;
  --accent: #b3261e; --mono: ui-monospace, "SF Mono", "JetBrains Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #ededf1; --soft: #a3a3ae; --line: #33333b; --paper: #151518; --card: #1e1e23; --accent: #ff8a75; }
}
* { box-sizing: border-box; }
html { scroll-behavior: smooth; scroll-padding-top: 4rem; }
body { margin: 0; color: var(--ink); background: var(--paper);
  font: 1.0625rem/1.6 Inter, ui-sans-serif, system-ui, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", sans-serif; }
main, .bar div, footer { max-width: 72rem; margin: 0 auto; padding: 0 1.5rem; }
.bar { position: sticky; top: 0; z-index: 1; background: var(--paper); border-bottom: 1px solid var(--line); }
.bar div { display: flex; align-items: center; gap: .25rem; height: 3rem; }
.bar b { margin-right: auto; letter-spacing: -.01em; }
.bar a { min-width: 2rem; padding: .3rem 0; text-align: center; text-decoration: none; color: var(--soft); border-radius: 6px;
  font-size: .95rem; font-variant-numeric: tabular-nums; }
.bar a:hover, .bar a:focus-visible { background: var(--card); color: var(--ink); }
h1 { font-size: clamp(2.1rem, 5.5vw, 3.5rem); line-height: 1.08; letter-spacing: -.03em; margin: clamp(2.5rem, 7vw, 5rem) 0 1.25rem;
  max-width: 16em; font-weight: 650; }
h2 { font-size: clamp(1.5rem, 3.2vw, 2.1rem); line-height: 1.2; letter-spacing: -.02em; margin: 0 0 1rem; font-weight: 650; }
p { margin: .8rem 0; max-width: 42rem; }
.lead { font-size: 1.2rem; line-height: 1.55; color: var(--soft); max-width: 44rem; }
.number { display: block; color: var(--accent); font-size: 1rem; font-weight: 600; letter-spacing: 0; margin-bottom: .35rem; }
section { padding: 4.5rem 0 0; }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(13.5rem, 1fr)); gap: 1.25rem; padding: 0; margin: 3rem 0 0;
  list-style: none; }
.cards a { display: block; height: 100%; border: 1px solid var(--line); border-radius: 10px; overflow: hidden; text-decoration: none;
  background: var(--card); }
.cards a:hover, .cards a:focus-visible { border-color: var(--accent); }
.cards img { display: block; width: 100%; aspect-ratio: 16 / 10; object-fit: cover; object-position: 50% 35%; background: #fff;
  border-bottom: 1px solid var(--line); }
.cards span { display: block; padding: 0 1rem; }
.cards .name { padding-top: .75rem; font-weight: 600; line-height: 1.3; }
.cards .point { padding-bottom: 1rem; color: var(--soft); font-size: .92rem; line-height: 1.4; }
.words { display: grid; grid-template-columns: repeat(auto-fit, minmax(17rem, 1fr)); gap: 1.25rem 2.5rem; margin: 1.5rem 0 0; }
.words dt { font-weight: 600; } .words dd { margin: .1rem 0 0; color: var(--soft); font-size: 1rem; line-height: 1.5; }
.pictures { display: grid; grid-template-columns: repeat(6, minmax(0, 1fr)); gap: 2.75rem 1.75rem; margin: 2.25rem 0; align-items: start; }
figure { grid-column: span 6; margin: 0; min-width: 0; }
figure.half { grid-column: span 3; } figure.third { grid-column: span 2; }
figure img { display: block; max-width: 100%; height: auto; border: 1px solid var(--line); border-radius: 8px; background: #fff; }
figcaption { margin-top: .8rem; } figcaption p { margin: 0 0 .6rem; }
figcaption pre, .next pre { margin: 0; padding: .55rem .8rem; border-radius: 6px; background: var(--card); border: 1px solid var(--line);
  white-space: pre-wrap; overflow-wrap: anywhere; max-width: 100%; width: fit-content; font-size: .82rem; line-height: 1.55; }
code { font: .82rem/1.55 var(--mono); }
.missing code { background: var(--card); padding: .1em .35em; border-radius: 4px; }
a { color: inherit; text-underline-offset: .2em; }
a.open { display: inline-block; padding: .65rem 1.1rem; border: 1px solid var(--accent); border-radius: 8px; text-decoration: none;
  color: var(--accent); font-weight: 600; }
a.open:hover, a.open:focus-visible { background: var(--card); }
dl.facts { display: grid; grid-template-columns: 11rem minmax(0, 42rem); gap: .7rem 1.5rem; margin: 2.5rem 0 0; padding: 1.5rem 0 0;
  border-top: 1px solid var(--line); font-size: 1rem; line-height: 1.55; }
.facts dt { color: var(--soft); } .facts dd { margin: 0; }
.missing { border-left: 3px solid var(--accent); padding-left: 1rem; }
.next pre { padding: 1rem 1.2rem; width: auto; } .next code { font-size: .9rem; line-height: 1.9; }
footer { color: var(--soft); font-size: .92rem; padding-top: 4rem; padding-bottom: 4rem; }
@media (max-width: 60rem) { figure.third { grid-column: span 3; } }
@media (max-width: 48rem) {
  body { font-size: 1rem; } main, .bar div, footer { padding-left: 1.1rem; padding-right: 1.1rem; }
  figure.half, figure.third { grid-column: span 6; }
  section { padding-top: 3.5rem; } .bar b { display: none; } .bar a { flex: 1; min-width: 0; }
  dl.facts { grid-template-columns: 1fr; gap: .1rem; } .facts dd { margin-bottom: .9rem; }
}
@media print {
  .bar, .cards { display: none; } section { padding-top: 2rem; } figure, dl.facts { break-inside: avoid; }
  h2 { break-after: avoid; } body { font-size: 10pt; }
}
@media (prefers-reduced-motion: reduce) { html { scroll-behavior: auto; } }
)";

constexpr std::string_view kPrimer = R"(<section id="words">
<h2>The words, in one minute</h2>
<dl class="words">
<div><dt>Token</dt><dd>What a model reads one of at a time: a word or a piece of one, a patch of a picture.</dd></div>
<div><dt>Attention</dt><dd>For each token, how it divides its look among all tokens: shares that sum to 1.</dd></div>
<div><dt>Layer, head</dt><dd>A model repeats this in layers. Each layer has several heads that look side by side, each in its own way.
Both are counted from 0.</dd></div>
<div><dt>Row, column</dt><dd>A map has a row for each token that looks and a column for each that is looked at. A row answers
“where does it look?”, a column “who looks at it?”.</dd></div>
<div><dt>Warm colours</dt><dd>The warmer a cell, the larger the share. All panels of one picture have one scale.</dd></div>
<div><dt>What it is not</dt><dd>Attention shows what was read. Whether the answer depends on it is another question, which
<code>fovea explain</code> asks.</dd></div>
</dl>
</section>
)";

std::string paragraphs(const std::vector<std::string>& texts) {
  std::string html;
  for (const std::string& text : texts) html += fmt::format("<p>{}</p>\n", escape_text(text));
  return html;
}

std::string_view class_of(PictureWidth width) {
  switch (width) {
    case PictureWidth::kHalf:
      return " class=\"half\"";
    case PictureWidth::kThird:
      return " class=\"third\"";
    case PictureWidth::kFull:
      break;
  }
  return "";
}

std::string picture_html(const PagePicture& made) {
  const GalleryPicture& picture = made.picture;
  const std::string alt = escape_attribute(picture.alt);
  // Figures have two pixels to a unit: this is the size they were drawn for.
  const std::string shown =
      made.size.width == 0
          ? fmt::format("<a class=\"open\" href=\"{}\">{}</a>", picture.file, alt)
          : fmt::format(
                "<a href=\"{0}\"><img src=\"{0}\" alt=\"{1}\" width=\"{2}\" height=\"{3}\">"
                "</a>",
                picture.file, alt, made.size.width / 2, made.size.height / 2);
  return fmt::format(
      "<figure{}>{}\n<figcaption><p>{}</p>\n<pre><code>{}</code></pre></figcaption></figure>\n",
      class_of(picture.width), shown, escape_text(picture.text), escape_text(made.command));
}

std::string missing_html(const MissingModel& missing) {
  return fmt::format(
      "<p class=\"missing\">Left out: {}. With a network, <code>{}</code>{} fetches it; then make "
      "the gallery again.</p>\n",
      escape_text(missing_text(missing)), escape_text(fetching().command), fetching().where);
}

std::string chapter_html(const PageChapter& page, size_t number) {
  const Chapter& chapter = page.chapter;
  std::string html =
      fmt::format("<section id=\"{}\">\n<h2><span class=\"number\">{}</span>{}</h2>\n", chapter.id,
                  number, escape_text(chapter.title));
  html += paragraphs(chapter.lead);
  for (const MissingModel& missing : page.missing) html += missing_html(missing);
  if (!page.pictures.empty()) {
    html += "<div class=\"pictures\">\n";
    for (const PagePicture& picture : page.pictures) html += picture_html(picture);
    html += "</div>\n";
  }
  html += "<dl class=\"facts\">\n";
  const auto fact = [&](std::string_view name, const std::string& text) {
    html += fmt::format("<dt>{}</dt><dd>{}</dd>\n", name, escape_text(text));
  };
  fact("How to read it", chapter.read);
  fact("How it is computed", chapter.computed);
  fact("What it does not say", chapter.limits);
  fact("The model", chapter.model);
  return html + "</dl>\n</section>\n";
}

// The picture that stands for the chapter, or another that could be made; empty: there is none.
std::string face_of(const PageChapter& page) {
  std::string face;
  for (const PagePicture& picture : page.pictures) {
    const bool wanted = picture.picture.file == page.chapter.face;
    if (wanted || (face.empty() && picture.size.width > 0)) face = picture.picture.file;
    if (wanted) break;
  }
  return face;
}

std::string contents_html(const GalleryPage& page) {
  std::string html = "<nav aria-label=\"Chapters\"><ol class=\"cards\">\n";
  for (size_t i = 0; i < page.chapters.size(); ++i) {
    const Chapter& chapter = page.chapters[i].chapter;
    const std::string file = face_of(page.chapters[i]);
    const std::string face =
        file.empty() ? ""
                     : fmt::format("<img src=\"{}\" alt=\"\" width=\"320\" height=\"200\">", file);
    html += fmt::format(
        "<li><a href=\"#{}\">{}<span class=\"name\">{} · {}</span><span class=\"point\">{}</span>"
        "</a></li>\n",
        chapter.id, face, i + 1, escape_text(chapter.title), escape_text(chapter.point));
  }
  return html + "</ol></nav>\n";
}

std::string bar_html(const GalleryPage& page) {
  std::string html = "<div class=\"bar\"><div><b>fovea · gallery</b>";
  for (size_t i = 0; i < page.chapters.size(); ++i) {
    const Chapter& chapter = page.chapters[i].chapter;
    const std::string title = escape_attribute(chapter.title);
    html += fmt::format("<a href=\"#{}\" title=\"{}\" aria-label=\"{}: {}\">{}</a>", chapter.id,
                        title, i + 1, title, i + 1);
  }
  return html + "</div></div>\n";
}

std::string next_html(const GalleryPage& page) {
  std::vector<std::string> lines;
  for (const std::string& command : page.next) lines.push_back(escape_text(command));
  std::string html = fmt::format(
      "<section id=\"next\" class=\"next\">\n<h2>Try next</h2>\n<pre><code>{}</code></pre>\n",
      fmt::join(lines, "\n"));
  if (!page.learn.empty()) {
    html += fmt::format(
        "<p>To understand it from the ground up: <a href=\"{}\">six short chapters</a> with every "
        "number worked out.</p>\n",
        page.learn);
  }
  return html + "</section>\n";
}

}  // namespace

std::string gallery_html(const GalleryPage& page) {
  std::string chapters;
  for (size_t i = 0; i < page.chapters.size(); ++i) {
    chapters += chapter_html(page.chapters[i], i + 1);
  }
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>What a transformer is looking at</title>\n<style>{}</style>\n</head>\n<body>\n"
      "{}<main>\n<h1>What a transformer is looking at</h1>\n"
      "<p class=\"lead\">A transformer, the kind of network behind today’s language and image "
      "models, works by letting every word look at every other. These pictures show where it "
      "looks, with the numbers of real models. Below each stands the command that makes it.</p>\n"
      "{}{}{}{}</main>\n"
      "<footer>Made by fovea {} on this machine. Nothing on this page comes from "
      "elsewhere.</footer>\n"
      "</body>\n</html>\n",
      kGalleryStyle, bar_html(page), contents_html(page), kPrimer, chapters, next_html(page),
      version());
}

}  // namespace fovea
