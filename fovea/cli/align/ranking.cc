#include "fovea/cli/align/ranking.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <vector>

namespace fovea {
namespace {

struct Column {
  std::string title;
  int width;
  std::function<std::string(const HeadStatistics&)> cell;
};

template <typename Number>
std::string number_or(const std::optional<Number>& number, std::string_view otherwise) {
  return number ? fmt::format("{}", *number) : std::string(otherwise);
}

Column share(std::string title, double HeadStatistics::*field) {
  return {std::move(title), 6,
          [field](const HeadStatistics& one) { return fmt::format("{:.3f}", one.*field); }};
}

Column norm(std::string title, std::optional<double> HeadStatistics::*field) {
  return {std::move(title), 7, [field](const HeadStatistics& one) {
            return one.*field ? fmt::format("{:.4f}", *(one.*field)) : std::string("·");
          }};
}

std::vector<Column> columns_for(const std::vector<HeadStatistics>& statistics) {
  const auto score = [](const HeadStatistics& one) { return fmt::format("{:.3f}", one.score()); };
  std::vector<Column> columns = {
      {"layer", 5, [](const HeadStatistics& one) { return number_or(one.candidate.layer, "all"); }},
      {"head", 4, [](const HeadStatistics& one) { return number_or(one.candidate.head, "mean"); }},
      {"read", 6,
       [](const HeadStatistics& one) { return std::string(to_string(one.candidate.reading)); }},
      {"score", 6, score},
      share("mass", &HeadStatistics::anchor_mass),
      share("hits", &HeadStatistics::anchor_hits),
      share("2-way", &HeadStatistics::two_way),
      share("entr", &HeadStatistics::entropy),
      share("conf", &HeadStatistics::confidence),
      share("end", &HeadStatistics::special_mass),
      share("diag", &HeadStatistics::diagonality),
      share("agree", &HeadStatistics::agreement),
      share("src", &HeadStatistics::source_coverage),
      share("tgt", &HeadStatistics::target_coverage)};
  const auto has = [&](auto field) {
    return std::ranges::any_of(statistics,
                               [&](const HeadStatistics& one) { return (one.*field).has_value(); });
  };
  if (has(&HeadStatistics::layer_norm)) {
    columns.push_back(norm("norm", &HeadStatistics::head_norm));
    columns.push_back(norm("layer's", &HeadStatistics::layer_norm));
  }
  if (has(&HeadStatistics::gold)) {
    columns.push_back({"AER %", 6, [](const HeadStatistics& one) {
                         return fmt::format("{:.1f}", 100 * one.gold->aer());
                       }});
  }
  return columns;
}

bool is(const HeadStatistics& one, const MapChoice& choice) {
  return one.candidate == HeadCandidate{choice.layer, choice.head, choice.reading};
}

template <typename Number>
Json json_or_null(const std::optional<Number>& number) {
  return number ? Json(*number) : Json();
}

Json head_json(const HeadStatistics& one) {
  Json json = Json::object({{"layer", json_or_null(one.candidate.layer)},
                            {"head", json_or_null(one.candidate.head)},
                            {"reading", to_string(one.candidate.reading)},
                            {"score", one.score()},
                            {"anchor_mass", one.anchor_mass},
                            {"anchor_hits", one.anchor_hits},
                            {"two_way", one.two_way},
                            {"entropy", one.entropy},
                            {"confidence", one.confidence},
                            {"special_mass", one.special_mass},
                            {"diagonality", one.diagonality},
                            {"agreement", one.agreement},
                            {"source_coverage", one.source_coverage},
                            {"target_coverage", one.target_coverage}});
  if (one.head_norm) json.set("head_norm", *one.head_norm);
  if (one.layer_norm) json.set("layer_norm", *one.layer_norm);
  if (one.gold) {
    json.set("aer", one.gold->aer());
    json.set("precision", one.gold->precision());
    json.set("recall", one.gold->recall());
  }
  return json;
}

constexpr std::string_view kLegend =
    "score  mass x 2-way, what the rule without gold ranks by (heads only)\n"
    "mass   attention on anchor pairs          hits   anchor pairs that are links\n"
    "2-way  links the same read in either direction\n"
    "entr   entropy of a row, 1 is even        conf   largest weight of a row\n"
    "end    weight on special tokens           diag   1 is the diagonal\n"
    "agree  links shared with other heads      src, tgt  words that have a link\n";

}  // namespace

RankedMaps rank_maps(std::vector<HeadStatistics> statistics, const AlignOptions& options) {
  RankedMaps ranked;
  ranked.chosen = choose_map(statistics, options);
  if (statistics.front().gold) ranked.best = best_map_by_gold(statistics, options);
  std::ranges::stable_sort(statistics, std::greater<>(), &HeadStatistics::score);
  ranked.statistics = std::move(statistics);
  return ranked;
}

std::string ranking_text(const RankedMaps& ranked) {
  const std::vector<Column> columns = columns_for(ranked.statistics);
  std::string text;
  for (const Column& column : columns) text += fmt::format("{:>{}} ", column.title, column.width);
  text.back() = '\n';
  for (const HeadStatistics& one : ranked.statistics) {
    for (const Column& column : columns) {
      text += fmt::format("{:>{}} ", column.cell(one), column.width);
    }
    if (is(one, ranked.chosen)) text += " chosen";
    if (ranked.best && is(one, *ranked.best)) text += " best by gold";
    while (text.ends_with(' ')) text.pop_back();
    text += '\n';
  }
  const HeadStatistics& any = ranked.statistics.front();
  text += fmt::format("\n{} sentences, {} target pieces, {} anchor pairs\n", any.sentences,
                      any.target_pieces, any.anchors);
  text += kLegend;
  text += fmt::format("\nchosen: {}{}\n", to_string(ranked.chosen),
                      ranked.chosen.why.empty() ? "" : "; " + ranked.chosen.why);
  if (ranked.best) {
    text += fmt::format("best by gold: {}; {}\n", to_string(*ranked.best), ranked.best->why);
  }
  return text;
}

Json ranking_json(const RankedMaps& ranked) {
  const HeadStatistics& any = ranked.statistics.front();
  Json json = Json::object({{"sentences", any.sentences},
                            {"target_pieces", any.target_pieces},
                            {"anchors", any.anchors},
                            {"chosen", to_json(ranked.chosen)}});
  if (ranked.best) json.set("best_by_gold", to_json(*ranked.best));
  Json maps = Json::array();
  for (const HeadStatistics& one : ranked.statistics) maps.push_back(head_json(one));
  json.set("maps", std::move(maps));
  return json;
}

}  // namespace fovea
