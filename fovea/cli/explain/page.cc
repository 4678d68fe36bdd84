// An explanation on one page: the figure, what it answers, and every number.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "fovea/base/file.h"
#include "fovea/base/markup.h"
#include "fovea/base/version.h"
#include "fovea/cli/explain/card.h"
#include "fovea/cli/explain/numbers.h"
#include "fovea/cli/explain/view.h"

namespace fovea {
namespace {

constexpr std::string_view kExplainStyle = R"(
:root { color-scheme: light dark; --ink: #1b1b1f; --soft: #63636b; --line: #e3e3e8; --paper: #fff; --card: #fafafb;
  --above: #b2182b; --below: #2166ac; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #ececf0; --soft: #a2a2ad; --line: #34343c; --paper: #17171a; --card: #1f1f24; --above: #f4a582;
    --below: #92c5de; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 62rem; padding: 2.5rem 1.25rem 4rem; color: var(--ink); background: var(--paper);
  font: 1rem/1.55 system-ui, sans-serif; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 1.25rem; overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; margin: 2.25rem 0 .5rem; }
p { margin: .5rem 0; max-width: 46rem; }
figure { margin: 0; }
.drawing { overflow-x: auto; width: fit-content; max-width: 100%; border: 1px solid var(--line); border-radius: 6px;
  background: #fff; }
.drawing svg { display: block; max-width: 100%; height: auto; }
figcaption { margin-top: .6rem; color: var(--soft); font-size: .9rem; max-width: 46rem; }
.table { overflow: auto; max-height: 28rem; border: 1px solid var(--line); border-radius: 6px; max-width: 36rem; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .2rem .7rem; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
thead th { position: sticky; top: 0; background: var(--card); }
td.score, th.score { text-align: right; white-space: nowrap; }
td.score { background: linear-gradient(to left, var(--bar, transparent) var(--share, 0%), transparent 0) no-repeat
  0 100% / 100% 3px; }
.card { max-height: none; max-width: 46rem; margin: .75rem 0 1.25rem; }
.card td { overflow-wrap: normal; vertical-align: top; background: none; }
.card small { display: block; color: var(--soft); }
.range { color: var(--soft); white-space: nowrap; }
@media (max-width: 40rem) {
  .card { font-size: .85rem; }
  .card th, .card td { padding: .2rem .35rem; }
  .card .range { display: block; font-size: .75rem; }
}
footer { margin-top: 2.5rem; color: var(--soft); font-size: .85rem; }
)";

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

// Of the input alone where it has scores: special tokens and the position asked from are mostly far
// above all others, and bars measured by them would say nothing.
double largest_score(const Explanation& explanation) {
  double most = 0, most_of_input = 0;
  const auto look = [&](const Axis& axis, const std::vector<double>& scores, int64_t row) {
    for (size_t i = 0; i < scores.size(); ++i) {
      most = std::max(most, std::abs(scores[i]));
      if (axis.positions[i].special || static_cast<int64_t>(i) == row) continue;
      most_of_input = std::max(most_of_input, std::abs(scores[i]));
    }
  };
  look(explanation.axis, explanation.scores, explanation.row.value_or(-1));
  look(explanation.target_axis, explanation.target_scores, -1);
  return most_of_input > 0 ? most_of_input : most;
}

std::string table_html(std::string_view caption, const Axis& axis,
                       const std::vector<double>& scores, double most) {
  std::string html = fmt::format(
      "<div class=\"table\" tabindex=\"0\" role=\"region\" "
      "aria-label=\"{0}\">\n<table>\n<thead><tr>"
      "<th>#</th><th>{1}</th><th class=\"score\">score</th></tr></thead>\n<tbody>\n",
      escape_attribute(caption), escape_text(axis.name == "heads" ? "head" : "position"));
  for (size_t i = 0; i < scores.size(); ++i) {
    html += score_row_html(i, axis.positions[i].text, scores[i], most);
  }
  return html + "</tbody>\n</table>\n</div>\n";
}

// Of the drawing at its own size.
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

void write_explanation_page(const std::filesystem::path& path, const ExplainQuestion& question,
                            const Explanation& explanation, const FigureOptions& options,
                            const FaithfulnessCard* card) {
  Content content = explanation_content(question, explanation, card);
  FigureText& own = std::visit([](auto& each) -> FigureText& { return each.text; }, content.figure);
  const FigureText text = own;
  own.title.clear();  // the page has them
  own.caption.clear();
  const EncodedFigure figure = encode_figure(FigureFormat::kSvg, content.figure, options);
  const double most = largest_score(explanation);
  const std::string check = card != nullptr ? card_html({question, explanation, *card}) : "";
  std::string tables =
      "<h2>Every number</h2>\n" + table_html("scores", explanation.axis, explanation.scores, most);
  if (!explanation.target_scores.empty()) {
    tables += "<h2>Of the target so far</h2>\n" + table_html("scores of the target",
                                                             explanation.target_axis,
                                                             explanation.target_scores, most);
  }
  const std::string html = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{0}</title>\n<style>{1}</style>\n</head>\n<body>\n<h1>{0}</h1>\n"
      "<figure>{3}<figcaption>{2}</figcaption></figure>\n{10}"
      "<h2>What {4} answers</h2>\n<p>{5}</p>\n{6}"
      "<footer>fovea {7} \u00b7 model {8}</footer>\n"
      "<script type=\"application/json\" id=\"explanation\">{9}</script>\n</body>\n</html>\n",
      escape_attribute(text.title), kExplainStyle, escape_attribute(text.caption),
      drawing_html(figure.bytes, text.caption, "map-"), escape_text(question.method.name),
      escape_text(question.method.answers), tables, version(),
      escape_text(question.result.run.model_hash),
      script_text(explanation_json(question, explanation, card).dump()), check);
  write_file_atomic(path, [&](FileWriter& file) { file.write(html); });
}

}  // namespace fovea
