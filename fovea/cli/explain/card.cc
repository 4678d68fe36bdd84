#include "fovea/cli/explain/card.h"

#include <fmt/format.h>

#include <algorithm>

#include "fovea/base/markup.h"
#include "fovea/cli/explain/page.h"
#include "fovea/explain/faithfulness/faithfulness.h"
#include "fovea/render/figure_file.h"

namespace fovea {
namespace {

constexpr std::string_view kOfCard = "a checked explanation";

std::string grade_row_html(const GradeInfo& info, const Json& grade) {
  const auto number = [&](std::string_view name) {
    return grade.at(name, kOfCard).as_double(kOfCard);
  };
  const std::string& good = grade.at("good", kOfCard).as_string(kOfCard);
  const std::string name = fmt::format("<td>{}<small>{}; {}&nbsp;is&nbsp;good</small></td>",
                                       escape_text(info.name), escape_text(info.says), good);
  if (const Json* missing = grade.find("missing")) {
    return fmt::format("<tr>{}<td colspan=\"3\">none: {}</td></tr>\n", name,
                       escape_text(missing->as_string(kOfCard)));
  }
  return fmt::format(
      "<tr>{}<td class=\"score\">{:.3f}</td><td class=\"score\">{:.3f} "
      "<span class=\"range\">{:.3f} to {:.3f}</span></td><td>{}</td></tr>\n",
      name, number("value"), number("random"), number("random_low"), number("random_high"),
      grade.at("verdict", kOfCard).as_string(kOfCard));
}

}  // namespace

const Figure* find_beside(const Answer& answer, std::string_view name) {
  const auto found = std::ranges::find(answer.beside, name, &FigureBeside::name);
  return found == answer.beside.end() ? nullptr : &found->figure;
}

std::string card_html(const Answer& answer) {
  const Figure* curves = find_beside(answer, "curves");
  if (curves == nullptr) return "";
  const Json& check = answer.facts.at("result", kOfCard).at("check", kOfCard);
  std::string rows;
  for (const GradeInfo& info : grade_infos()) {
    rows += grade_row_html(info, check.at("grades", kOfCard).at(info.name, kOfCard));
  }
  auto figure = std::get<CurvesFigure>(*curves);
  const std::string label = figure.text.title + ": curves of deletion and insertion";
  const std::string facts = figure.text.caption;
  figure.text.title.clear();  // the page says both
  figure.text.caption.clear();
  figure.text.metadata = {};
  const std::string svg = encode_figure(FigureFormat::kSvg, figure).bytes;
  return fmt::format(
      "<h2>How far it can be believed</h2>\n<p>{}</p>\n"
      "<div class=\"table card\" tabindex=\"0\" role=\"region\" aria-label=\"faithfulness\">\n"
      "<table>\n<thead><tr><th>grade</th><th class=\"score\">value</th>"
      "<th class=\"score\">random <span class=\"range\">95 %</span></th><th>verdict</th></tr>"
      "</thead>\n<tbody>\n{}</tbody>\n</table>\n</div>\n"
      "<figure>{}</figure>\n",
      escape_text(facts), rows, drawing_html(svg, label, "card-"));
}

}  // namespace fovea
