#include "fovea/cli/explain/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <span>

#include "fovea/base/file.h"
#include "fovea/base/markup.h"
#include "fovea/base/version.h"
#include "fovea/cli/explain/card.h"
#include "fovea/explain/method.h"

namespace fovea {

// Made by cmake/FoveaEmbed.cmake.
std::span<const std::byte> embedded_explanation_css();

namespace {

constexpr std::string_view kOfPage = "an explanation";

// Smaller nobody reads the text of a drawing; a narrow window scrolls it.
constexpr double kLeastScale = 0.75;

std::string score_row_html(size_t index, const std::string& name, double score, double most) {
  const double share = most > 0 ? std::min(100 * std::abs(score) / most, 100.0) : 0;
  return fmt::format(
      "<tr><td>{}</td><td><bdi>{}</bdi></td><td class=\"score\" "
      "style=\"--share:{:.1f}%;--bar:var({})\">"
      "{:.4g}</td></tr>\n",
      index, escape_text(name), share, score < 0 ? "--below" : "--above", score);
}

// The largest score of the input's own positions, if they have scores. Special tokens and the
// position asked from are mostly far above all others, and bars measured by them would say nothing.
double largest_score(const Answer& answer) {
  double most = 0, most_of_input = 0;
  const Json* row = answer.facts.at("result", kOfPage).find("row");
  for (const AxisScores& of : answer.scores) {
    const bool input = &of == &answer.scores.front();
    const int64_t asked_from = input && row != nullptr ? row->as_int(kOfPage) : -1;
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

}  // namespace

std::string drawing_html(std::string svg, std::string_view label, std::string_view name) {
  svg.erase(0, std::min(svg.find("<svg"), svg.size()));
  for (const std::string_view before : {" id=\"", "href=\"#", "url(#"}) {
    for (size_t at = svg.find(before); at != svg.npos; at = svg.find(before, at + 1)) {
      svg.insert(at + before.size(), name);
    }
  }
  svg.insert(std::string_view("<svg").size(),
             fmt::format(" style=\"min-width:{:.0f}px\"", kLeastScale * width_of(svg)));
  return fmt::format(
      "<div class=\"drawing\" tabindex=\"0\" role=\"img\" aria-label=\"{}\">{}</div>",
      escape_attribute(label), svg);
}

void write_explanation_page(const std::filesystem::path& path, const Answer& answer,
                            const FigureOptions& options) {
  Figure figure = answer.figure;
  const FigureText text = text_in(figure);
  std::visit(
      [](auto& each) {
        each.text.title.clear();  // the page has them
        each.text.caption.clear();
      },
      figure);
  const std::string svg = encode_figure(FigureFormat::kSvg, figure, options).bytes;
  const double most = largest_score(answer);
  std::string tables =
      "<h2>Every number</h2>\n" + table_html("scores", answer.scores.front(), most);
  if (answer.scores.size() > 1) {
    tables += "<h2>Of the target so far</h2>\n" +
              table_html("scores of the target", answer.scores.back(), most);
  }
  const Method method = method_named(answer.facts.at("method", kOfPage).as_string(kOfPage));
  const std::string& hash =
      answer.facts.at("model", kOfPage).at("hash", kOfPage).as_string(kOfPage);
  const std::string html = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{0}</title>\n<style>\n{1}</style>\n</head>\n<body>\n<h1>{0}</h1>\n"
      "<figure>{3}<figcaption>{2}</figcaption></figure>\n{10}"
      "<h2>What {4} answers</h2>\n<p>{5}</p>\n{6}"
      "<footer>fovea {7} \u00b7 model {8}</footer>\n"
      "<script type=\"application/json\" id=\"explanation\">{9}</script>\n</body>\n</html>\n",
      escape_attribute(text.title), as_text(embedded_explanation_css()),
      escape_attribute(text.caption), drawing_html(svg, text.caption, "map-"),
      escape_text(method.name), escape_text(method.answers), tables, version(), escape_text(hash),
      script_text(whole(answer).dump()), card_html(answer));
  write_file_atomic(path, [&](FileWriter& file) { file.write(html); });
}

}  // namespace fovea
