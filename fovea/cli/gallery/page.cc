#include "fovea/cli/gallery/page.h"

#include <fmt/ranges.h>

#include <cstddef>
#include <span>

#include "fovea/base/file.h"
#include "fovea/base/markup.h"
#include "fovea/base/version.h"
#include "fovea/cli/model_options.h"

namespace fovea {

// Made by cmake/FoveaEmbed.cmake.
std::span<const std::byte> embedded_gallery_css();
std::span<const std::byte> embedded_primer_html();

namespace {

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
          ? fmt::format("<a class=\"open\" href=\"{}\">{}</a>", picture.item.file, alt)
          : fmt::format(
                "<a href=\"{0}\"><img src=\"{0}\" alt=\"{1}\" width=\"{2}\" height=\"{3}\">"
                "</a>",
                picture.item.file, alt, made.size.width / 2, made.size.height / 2);
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

// What of a picture stands for its chapter: the part that says something, as large as the card.
std::string face_html(const PagePicture& picture, const FacePart& part) {
  const double height =
      static_cast<double>(picture.size.height) / static_cast<double>(picture.size.width);
  const auto percent = [&](double share) { return 100 * share / part.width; };
  return fmt::format(
      "<span class=\"face\"><img src=\"{}\" alt=\"\" width=\"320\" height=\"{:.0f}\" "
      "style=\"width:{:.1f}%;margin:{:.1f}% 0 0 {:.1f}%\"></span>",
      picture.picture.item.file, 320 * height, percent(1), -percent(part.top * height),
      -percent(part.left));
}

// Of the picture that stands for the chapter, or the whole of another that could be made; empty:
// there is none.
std::string face_of(const PageChapter& page) {
  const PagePicture* other = nullptr;
  for (const PagePicture& picture : page.pictures) {
    if (picture.picture.item.file == page.chapter.face && picture.size.width > 0) {
      return face_html(picture, page.chapter.face_part);
    }
    if (other == nullptr && picture.size.width > 0) other = &picture;
  }
  return other == nullptr ? "" : face_html(*other, {});
}

std::string contents_html(const GalleryPage& page) {
  std::string html = "<nav aria-label=\"Chapters\"><ol class=\"cards\">\n";
  for (size_t i = 0; i < page.chapters.size(); ++i) {
    const Chapter& chapter = page.chapters[i].chapter;
    const std::string face = face_of(page.chapters[i]);
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
      "<title>What a transformer is looking at</title>\n<style>\n{}</style>\n</head>\n<body>\n"
      "{}<main>\n<h1>What a transformer is looking at</h1>\n"
      "<p class=\"lead\">A transformer, the kind of network behind today’s language and image "
      "models, works by letting every word look at every other. These pictures show where it "
      "looks, with the numbers of real models. Below each stands the command that makes it.</p>\n"
      "{}{}{}{}</main>\n"
      "<footer>Made by fovea {} on this machine. Nothing on this page comes from "
      "elsewhere.</footer>\n"
      "</body>\n</html>\n",
      as_text(embedded_gallery_css()), bar_html(page), contents_html(page),
      as_text(embedded_primer_html()), chapters, next_html(page), version());
}

}  // namespace fovea
