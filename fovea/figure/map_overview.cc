#include "fovea/figure/map_overview.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fovea/base/parse.h"
#include "fovea/base/utf8.h"
#include "fovea/figure/caption.h"
#include "fovea/figure/cell_path.h"

namespace fovea {
namespace {

constexpr size_t kNameLetters = 22;     // of a paragraph
constexpr size_t kTopLetters = 10;      // of a column
constexpr size_t kMostCandidates = 64;  // of which a figure names those it has room for
constexpr double kLeastTopShare = 0.002;
constexpr double kLeastTopTimesEven = 4;

// So many letters, the last an ellipsis where there are more.
std::string elided(std::string_view text, size_t letters) {
  const std::vector<std::string_view> all = graphemes(text);
  if (all.size() <= letters) return std::string(text);
  std::string result;
  for (size_t i = 0; i + 1 < letters; ++i) result += all[i];
  while (!result.empty() && std::string_view(" ,.;:").find(result.back()) != std::string::npos) {
    result.pop_back();
  }
  return result + "…";
}

bool is_space_letter(char letter) {
  return letter == ' ' || letter == '\t' || letter == '\n' || letter == '\r';
}

// White space put together, so much of it as a name takes.
std::string first_words(std::string_view text) {
  std::string words;
  for (const char letter : text) {
    if (!is_space_letter(letter)) {
      words += letter;
    } else if (!words.empty() && words.back() != ' ') {
      if (words.size() > 4 * kNameLetters) break;
      words += ' ';
    }
  }
  return elided(trimmed(to_one_line(words)), kNameLetters);
}

// Where a position lies along a side, in cells; less than 0 where it is not shown.
double place_on_side(const Side& side, int64_t position) {
  const auto after = std::ranges::upper_bound(side.groups, position, {}, &PositionGroup::begin);
  if (after == side.groups.begin()) return -1;
  const PositionGroup& group = *(after - 1);
  if (position >= group.end) return -1;
  return static_cast<double>(after - 1 - side.groups.begin()) +
         static_cast<double>(position - group.begin) / static_cast<double>(group.size());
}

std::vector<PlacedName> row_names(const Side& rows) {
  std::vector<PlacedName> names;
  for (const Paragraph& paragraph : paragraphs_of(*rows.axis)) {
    const double place = place_on_side(rows, paragraph.position);
    if (place >= 0) names.push_back({place, paragraph.words});
  }
  return names;
}

// The letters of a path's sections, where they begin.
std::vector<PlacedName> section_names(const Frame& frame) {
  const auto cells = static_cast<double>(frame.path->key().section.size());
  std::vector<PlacedName> names;
  for (int64_t section = 0; section < PathKey::kSections; ++section) {
    const double begin = static_cast<double>(section) / PathKey::kSections * cells;
    names.push_back({begin / static_cast<double>(frame.block), PathKey::letter(section)});
  }
  return names;
}

void add_top_columns(const Frame& frame, const ShownMap& shown, MapOverview& overview) {
  const std::vector<double>& sums = shown.column_sums;
  const double all = std::accumulate(sums.begin(), sums.end(), 0.0);
  overview.top_share = std::max(kLeastTopShare, kLeastTopTimesEven / double(sums.size()));
  std::vector<int64_t> columns;
  for (size_t j = 0; j < sums.size(); ++j) {
    if (sums[j] >= overview.top_share * all) columns.push_back(static_cast<int64_t>(j));
  }
  const auto is_grey = [&](int64_t column) {
    const auto among = [&](const std::vector<GreyColumn>& list) {
      return std::ranges::find(list, column, &GreyColumn::column) != list.end();
    };
    return among(shown.grey.apart) || among(shown.grey.hidden);
  };
  std::erase_if(columns, is_grey);
  std::ranges::stable_sort(columns, std::ranges::greater(),
                           [&](int64_t column) { return sums[size_t(column)]; });
  columns.resize(std::min(columns.size(), kMostCandidates));
  for (const int64_t column : columns) {
    const double place = place_on_side(frame.cols, column);
    if (place < 0) continue;
    const auto size = static_cast<double>(frame.cols.groups[size_t(place)].size());
    // Words are counted where they are merged.
    const int64_t number =
        frame.block == 1 ? frame.cols.part.begin + static_cast<int64_t>(place) : column;
    const std::string label = plain_label(*frame.cols.axis, column);
    overview.top_columns.push_back(
        {place + 0.5 / size,
         frame.path
             ? label
             : fmt::format("\u2068{}\u2069 {}", elided(label, kTopLetters), count_text(number))});
  }
}

void add_distances(const ShownMap& shown, MapOverview& overview) {
  if (!shown.survey) return;
  const std::vector<double>& shares = shown.survey->by_distance;
  const std::vector<double>& even = shown.survey->even_by_distance;
  const double all = std::accumulate(shown.column_sums.begin(), shown.column_sums.end(), 0.0);
  const double rows = static_cast<double>(shown.record->shape().rows);
  size_t count = shares.size();
  while (count > 0 && even[count - 1] == 0) --count;
  for (size_t i = 0; i < count && all > 0; ++i) {
    overview.distances.push_back(
        {first_distance(static_cast<int64_t>(i)), shares[i] / all, even[i] / rows});
  }
}

std::vector<CellMark> strongest_bins(const Frame& frame, const Tensor& largest) {
  const MatrixView<const float> weights = largest.matrix<float>();
  const int64_t offset = frame.record->rule.mask.query_offset / frame.block;
  std::vector<CellMark> found;
  for (int64_t r = 0; r < weights.rows; ++r) {
    for (int64_t c = 0; c < weights.cols; ++c) {
      const bool far = std::abs(r + offset - c) >= kNeedleDistance;
      if (far && double{weights(r, c)} >= kStrongWeight) found.push_back({r, c});
    }
  }
  std::ranges::stable_sort(found, std::ranges::greater(),
                           [&](const CellMark& mark) { return weights(mark.row, mark.col); });
  return found;
}

std::string needles_note(size_t shown, size_t all) {
  if (all == 0)
    return fmt::format(" · no single weight of {} or more away from the diagonal", kStrongWeight);
  if (shown == all) {
    return fmt::format(" · rings: the {} bin{} with a single weight of {} or more", all,
                       all == 1 ? "" : "s", kStrongWeight);
  }
  return fmt::format(" · rings: the {} strongest of {} bins with a single weight of {} or more",
                     shown, count_text(static_cast<int64_t>(all)), kStrongWeight);
}

}  // namespace

std::vector<Paragraph> paragraphs_of(const Axis& axis) {
  std::vector<Paragraph> found;
  const std::string_view source = axis.source;
  size_t begin = 0;  // of the text after an empty line
  int64_t position = 0;
  while (begin < source.size()) {
    while (begin < source.size() && is_space_letter(source[begin])) ++begin;
    size_t end = begin;
    // Up to an empty line, which may hold blanks.
    for (size_t next = begin; next < source.size(); next = end + 1) {
      end = std::min(source.find('\n', next), source.size());
      if (trimmed(source.substr(next, end - next)).empty()) break;
    }
    if (begin >= source.size()) break;
    const auto count = std::ssize(axis.positions);
    while (position < count &&
           axis.positions[size_t(position)].source_end <= static_cast<int64_t>(begin)) {
      ++position;
    }
    if (position == count) break;
    found.push_back({position, first_words(source.substr(begin, end - begin))});
    begin = end;
  }
  return found;
}

bool has_free_corner(const Frame& frame) {
  const Mask& mask = frame.record->rule.mask;
  return mask.ahead == 0 && mask.query_offset == 0 &&
         frame.record->shape().rows == frame.record->shape().cols && !frame.rows.is_part() &&
         !frame.cols.is_part();
}

std::string map_subtitle(const Frame& frame, bool words) {
  const auto shown = [](const Side& side) { return side.part.size(); };
  const bool grid = frame.rows.axis->grid_rows > 0;
  const char* unit = words ? "words" : grid ? "cells" : "tokens";
  const bool square = frame.rows.axis == frame.cols.axis && shown(frame.rows) == shown(frame.cols);
  std::string text = square ? fmt::format("{} {}", count_text(shown(frame.rows)), unit)
                            : fmt::format("{} × {} {}", count_text(shown(frame.rows)),
                                          count_text(shown(frame.cols)), unit);
  if (frame.block == 1) return text + (words ? "" : ", every weight");
  return text + fmt::format(", {0} × {1} bins of {2} × {2}", frame.rows.size(), frame.cols.size(),
                            frame.block);
}

MapOverview map_overview(const Frame& frame, const ShownMap& shown, HeadChoice head,
                         const ViewChoice& choice, std::string& note) {
  MapOverview overview{.row_names = frame.path ? section_names(frame) : row_names(frame.rows),
                       .causal = has_free_corner(frame)};
  if (frame.path) overview.path = frame.path->key();
  for (const GreyColumn& each : shown.grey.apart) {
    overview.apart.push_back(
        {each.name, each.share, column_by_rows(shown, head, each.column, frame.rows.groups)});
  }
  if (!shown.column_sums.empty()) add_top_columns(frame, shown, overview);
  const bool in_line = frame.rows.axis->grid_rows == 0;
  if (in_line) add_distances(shown, overview);
  if (!shown.survey) return overview;
  overview.even = shown.survey->even;
  overview.last_row = static_cast<double>(frame.rows.groups.back().size()) / double(frame.block);
  const bool usual = frame.block >= kNeedlesFrom && in_line;
  const int64_t wanted = choice.needles.value_or(usual ? kUsualNeedles : 0);
  if (wanted == 0) return overview;
  overview.needles = strongest_bins(frame, shown.survey->largest);
  const size_t all = overview.needles.size();
  overview.needles.resize(std::min(all, static_cast<size_t>(wanted)));
  note = needles_note(overview.needles.size(), all);
  return overview;
}

}  // namespace fovea
