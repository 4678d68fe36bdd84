#include "fovea/cli/align/ranking.h"

#include <fmt/format.h>

#include <functional>
#include <vector>

namespace fovea {
namespace {

constexpr std::string_view kRanking = "the ranking";

struct Column {
  std::string title;
  int width;
  std::function<std::string(const Json&)> cell;  // of one map
};

// "all" layers, the "mean" of heads.
Column counted_column(std::string name, int width, const char* otherwise) {
  return {name, width, [name, otherwise](const Json& map) {
            const Json& number = map.at(name, kRanking);
            return number.is_null() ? otherwise : number.dump();
          }};
}

Column number_column(std::string title, std::string name, int width, int digits, double times = 1) {
  return {std::move(title), width, [name, digits, times](const Json& map) {
            const Json* number = map.find(name);
            return number == nullptr
                       ? std::string("·")
                       : fmt::format("{:.{}f}", times * number->as_double(kRanking), digits);
          }};
}

std::vector<Column> columns_for(const Json::Array& maps) {
  std::vector<Column> columns = {
      counted_column("layer", 5, "all"),
      counted_column("head", 4, "mean"),
      {"read", 6, [](const Json& map) { return map.at("reading", kRanking).as_string(kRanking); }}};
  constexpr std::pair<const char*, const char*> kShares[] = {
      {"score", "score"},         {"mass", "anchor_mass"},   {"hits", "anchor_hits"},
      {"2-way", "two_way"},       {"entr", "entropy"},       {"conf", "confidence"},
      {"end", "special_mass"},    {"diag", "diagonality"},   {"agree", "agreement"},
      {"src", "source_coverage"}, {"tgt", "target_coverage"}};
  for (const auto& [title, name] : kShares) columns.push_back(number_column(title, name, 6, 3));
  const auto has = [&](const char* name) {
    for (const Json& map : maps) {
      if (map.find(name) != nullptr) return true;
    }
    return false;
  };
  if (has("layer_norm")) {
    columns.push_back(number_column("norm", "head_norm", 7, 4));
    columns.push_back(number_column("layer's", "layer_norm", 7, 4));
  }
  if (has("aer")) columns.push_back(number_column("AER %", "aer", 6, 1, 100));
  return columns;
}

bool is_map(const Json& map, const Json& choice) {
  for (const char* name : {"layer", "head", "reading"}) {
    if (map.at(name, kRanking).dump() != choice.at(name, kRanking).dump()) return false;
  }
  return true;
}

constexpr std::string_view kLegend =
    "score  mass x 2-way, what the rule without gold ranks by (heads only)\n"
    "mass   attention on anchor pairs          hits   anchor pairs that are links\n"
    "2-way  links the same read in either direction\n"
    "entr   entropy of a row, 1 is even        conf   largest weight of a row\n"
    "end    weight on special tokens           diag   1 is the diagonal\n"
    "agree  links shared with other heads      src, tgt  words that have a link\n";

}  // namespace

std::string ranking_text(const Json& ranking) {
  const auto text_in = [](const Json& json, const char* name) {
    return json.at(name, kRanking).as_string(kRanking);
  };
  const auto number = [&](const char* name) { return ranking.at(name, kRanking).dump(); };
  const Json::Array& maps = ranking.at("maps", kRanking).as_array(kRanking);
  const Json& chosen = ranking.at("chosen", kRanking);
  const Json* best = ranking.find("best_by_gold");
  const std::vector<Column> columns = columns_for(maps);
  std::string text;
  for (const Column& column : columns) text += fmt::format("{:>{}} ", column.title, column.width);
  text.back() = '\n';
  for (const Json& map : maps) {
    for (const Column& column : columns) {
      text += fmt::format("{:>{}} ", column.cell(map), column.width);
    }
    if (is_map(map, chosen)) text += " chosen";
    if (best != nullptr && is_map(map, *best)) text += " best by gold";
    while (text.ends_with(' ')) text.pop_back();
    text += '\n';
  }
  text += fmt::format("\n{} sentences, {} target pieces, {} anchor pairs\n", number("sentences"),
                      number("target_pieces"), number("anchors"));
  text += kLegend;
  const std::string why = text_in(chosen, "why");
  text += fmt::format("\nchosen: {}{}\n", text_in(chosen, "name"), why.empty() ? "" : "; " + why);
  if (best != nullptr) {
    text += fmt::format("best by gold: {}; {}\n", text_in(*best, "name"), text_in(*best, "why"));
  }
  return text;
}

}  // namespace fovea
