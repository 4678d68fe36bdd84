#include "fovea/render/explanation_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <span>

#include "fovea/base/file.h"
#include "fovea/base/markup.h"
#include "fovea/base/version.h"

namespace fovea {

// Made by cmake/FoveaEmbed.cmake.
std::span<const std::byte> embedded_explanation_css();

namespace {

// Smaller nobody reads the text of a drawing; a narrow window scrolls it.
constexpr double kLeastDrawingScale = 0.75;

std::string score_row_html(size_t index, const std::string& name, double score, double most) {
  const double share = most > 0 ? std::min(100 * std::abs(score) / most, 100.0) : 0;
  return fmt::format(
      "<tr><td>{}</td><td><bdi>{}</bdi></td><td class=\"score{}\" "
      "style=\"background-size:{:.1f}% 3px\">{:.4g}</td></tr>\n",
      index, escape_text(name), score < 0 ? " below" : "", share, score);
}

// The largest score of the input's own positions, if they have scores. Special tokens and the
// position asked from are mostly far above all others, and bars measured by them would say nothing.
double largest_score(const ExplanationPage& page) {
  double most = 0, most_of_input = 0;
  for (const AxisScores& of : page.scores) {
    const bool input = &of == &page.scores.front();
    const int64_t asked_from = input ? page.row.value_or(-1) : -1;
    for (size_t i = 0; i < of.scores.size(); ++i) {
      most = std::max(most, std::abs(of.scores[i]));
      if (of.axis.positions[i].special || static_cast<int64_t>(i) == asked_from) continue;
      most_of_input = std::max(most_of_input, std::abs(of.scores[i]));
    }
  }
  return most_of_input > 0 ? most_of_input : most;
}

std::string table_html(std::string_view caption, const AxisScores& of, double most) {
  std::string html = fmt::format(
      "<div class=\"table\" tabindex=\"0\" role=\"region\" "
      "aria-label=\"{0}\">\n<table>\n<thead><tr>"
      "<th>#</th><th>{1}</th><th class=\"score\">score</th></tr></thead>\n<tbody>\n",
      escape_attribute(caption), escape_text(of.axis.name == "heads" ? "head" : "position"));
  for (size_t i = 0; i < of.scores.size(); ++i) {
    html += score_row_html(i, of.axis.positions[i].text, of.scores[i], most);
  }
  return html + "</tbody>\n</table>\n</div>\n";
}

// The width of the drawing at its own size.
double width_of(std::string_view svg) {
  constexpr std::string_view kBefore = " width=\"";
  const size_t at = svg.find(kBefore);
  double width = 0;
  if (at != svg.npos) {
    std::from_chars(svg.data() + at + kBefore.size(), svg.data() + svg.size(), width);
  }
  return width;
}

// Within a script nothing is decoded, but its end is looked for.
std::string script_text(const std::string& json) {
  std::string text;
  for (const char letter : json) text += letter == '<' ? "\\u003c" : std::string(1, letter);
  return text;
}

// A drawing to stand within a page, read out as `label`: without the declaration, which has no
// place there, and with `name` before the names within, for those of two drawings are the same.
std::string drawing_html(const Figure& figure, const FigureOptions& options, std::string_view label,
                         std::string_view name) {
  std::string svg = encode_figure(FigureFormat::kSvg, figure, options).bytes;
  svg.erase(0, std::min(svg.find("<svg"), svg.size()));
  for (const std::string_view before : {" id=\"", "href=\"#", "url(#"}) {
    for (size_t at = svg.find(before); at != svg.npos; at = svg.find(before, at + 1)) {
      svg.insert(at + before.size(), name);
    }
  }
  svg.insert(std::string_view("<svg").size(),
             fmt::format(" style=\"min-width:{:.0f}px\"", kLeastDrawingScale * width_of(svg)));
  return fmt::format(
      "<div class=\"drawing\" tabindex=\"0\" role=\"img\" aria-label=\"{}\">{}</div>",
      escape_attribute(label), svg);
}

// The page says title and caption of a drawing itself.
template <typename Drawing>
FigureText taken_text(Drawing& figure) {
  FigureText text = figure.text;
  figure.text.title.clear();
  figure.text.caption.clear();
  return text;
}

std::string grade_row_html(const PageGrade& grade) {
  const std::string name =
      fmt::format("<td>{}<small>{}; {}&nbsp;is&nbsp;good</small></td>", escape_text(grade.name),
                  escape_text(grade.says), grade.good);
  if (!grade.missing.empty()) {
    return fmt::format("<tr>{}<td colspan=\"3\">none: {}</td></tr>\n", name,
                       escape_text(grade.missing));
  }
  return fmt::format(
      "<tr>{}<td class=\"score\">{:.3f}</td><td class=\"score\">{:.3f} "
      "<span class=\"range\">{:.3f} to {:.3f}</span></td><td>{}</td></tr>\n",
      name, grade.value, grade.random, grade.random_low, grade.random_high, grade.verdict);
}

// Heading, table and curves of the faithfulness card; empty: it was not checked.
std::string card_html(const ExplanationPage& page) {
  if (!page.curves) return "";
  std::string rows;
  for (const PageGrade& grade : page.grades) rows += grade_row_html(grade);
  CurvesFigure figure = *page.curves;
  const FigureText text = taken_text(figure);
  figure.text.metadata = {};
  return fmt::format(
      "<h2>How far it can be believed</h2>\n<p>{}</p>\n"
      "<div class=\"table card\" tabindex=\"0\" role=\"region\" aria-label=\"faithfulness\">\n"
      "<table>\n<thead><tr><th>grade</th><th class=\"score\">value</th>"
      "<th class=\"score\">random <span class=\"range\">95 %</span></th><th>verdict</th></tr>"
      "</thead>\n<tbody>\n{}</tbody>\n</table>\n</div>\n"
      "<figure>{}</figure>\n",
      escape_text(text.caption), rows,
      drawing_html(figure, {}, text.title + ": curves of deletion and insertion", "card-"));
}

}  // namespace

std::string explanation_html(const ExplanationPage& page, const FigureOptions& options) {
  Figure figure = page.figure;
  const FigureText text = std::visit([](auto& each) { return taken_text(each); }, figure);
  const double most = largest_score(page);
  std::string tables = "<h2>Every number</h2>\n" + table_html("scores", page.scores.front(), most);
  if (page.scores.size() > 1) {
    tables += "<h2>Of the target so far</h2>\n" +
              table_html("scores of the target", page.scores.back(), most);
  }
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{0}</title>\n<style>\n{1}</style>\n</head>\n<body>\n<h1>{0}</h1>\n"
      "<figure>{3}<figcaption>{2}</figcaption></figure>\n{10}"
      "<h2>What {4} answers</h2>\n<p>{5}</p>\n{6}"
      "<footer>fovea {7} \u00b7 model {8}</footer>\n"
      "<script type=\"application/json\" id=\"explanation\">{9}</script>\n</body>\n</html>\n",
      escape_attribute(text.title), as_text(embedded_explanation_css()),
      escape_attribute(text.caption), drawing_html(figure, options, text.caption, "map-"),
      escape_text(page.method), escape_text(page.answers), tables, version(),
      escape_text(page.model_hash), script_text(page.facts), card_html(page));
}

void write_page(const std::filesystem::path& path, const ExplanationPage& page,
                const FigureOptions& options) {
  const std::string html = explanation_html(page, options);
  write_file_atomic(path, [&](FileWriter& file) { file.write(html); });
}

}  // namespace fovea
