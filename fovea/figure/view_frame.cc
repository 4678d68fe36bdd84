#include "fovea/figure/view_frame.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "fovea/base/error.h"
#include "fovea/base/parse.h"
#include "fovea/base/version.h"
#include "fovea/capture/site.h"
#include "fovea/figure/color_axis.h"
#include "fovea/figure/map_data.h"

namespace fovea {
namespace {

void check_cells(const AttentionRecord& record, int64_t panels, int64_t rows, int64_t cols) {
  if (panels * rows <= kMostCells / std::max<int64_t>(cols, 1)) return;
  fail(ErrorKind::kInvalidArgument,
       "{}: {} map{} of {} x {} would be {:.3g} cells but a figure holds {:.3g} at most; choose "
       "one head, or one token",
       to_string(record.site), panels, panels == 1 ? "" : "s", rows, cols,
       static_cast<double>(panels) * static_cast<double>(rows) * static_cast<double>(cols),
       static_cast<double>(kMostCells));
}

const Axis& axis_of(const Run& run, const std::string& name) {
  const Axis* axis = run.find_axis(name);
  if (axis == nullptr) {
    fail(ErrorKind::kInvalidArgument, "the run has no axis '{}'; capture it again", name);
  }
  if (axis->positions.empty()) {
    fail(ErrorKind::kInvalidArgument, "there is nothing to show: the axis '{}' is empty", name);
  }
  return *axis;
}

}  // namespace

SiteKind chosen_kind(const Run& run, const ViewChoice& choice) {
  if (run.records.empty()) {
    fail(ErrorKind::kNotFound, "the run of '{}' holds no attention; capture it again", run.model);
  }
  return choice.kind.value_or(run.records.front()->site.kind);
}

std::vector<RecordPointer> records_of(const Run& run, SiteKind kind) {
  std::vector<RecordPointer> records;
  std::set<std::string_view> kinds;
  for (const RecordPointer& record : run.records) {
    if (record->site.kind == kind) records.push_back(record);
    kinds.insert(name_of(record->site.kind));
  }
  if (records.empty()) {
    fail(ErrorKind::kNotFound, "the run has no {}; it has {}", name_of(kind),
         fmt::join(kinds, ", "));
  }
  std::ranges::sort(records, {}, [](const RecordPointer& record) { return record->site.layer; });
  return records;
}

RecordPointer chosen_record(const Run& run, const ViewChoice& choice) {
  const std::vector<RecordPointer> records = records_of(run, chosen_kind(run, choice));
  if (!choice.layer) return records.back();
  for (const RecordPointer& record : records) {
    if (record->site.layer == *choice.layer) return record;
  }
  fail(ErrorKind::kInvalidArgument, "layer {} is asked for but the {} has layers {} to {}",
       *choice.layer, name_of(records.front()->site.kind), records.front()->site.layer,
       records.back()->site.layer);
}

namespace {

// Neighbours put together, `block` at a time.
std::vector<PositionGroup> in_blocks(std::span<const PositionGroup> groups, int64_t block) {
  std::vector<PositionGroup> blocks;
  const auto count = std::ssize(groups);
  for (int64_t first = 0; first < count; first += block) {
    const int64_t last = std::min(first + block, count) - 1;
    blocks.push_back(
        {groups[static_cast<size_t>(first)].begin, groups[static_cast<size_t>(last)].end});
  }
  return blocks;
}

PositionGroup resolved(const AxisPart& part, int64_t count, const char* field) {
  const PositionGroup range{part.begin.value_or(0), part.end.value_or(count)};
  if (range.end > count || range.begin >= range.end) {
    fail(ErrorKind::kInvalidArgument, Field{field}, "{}:{} is not within the map, which has {} {}",
         range.begin, range.end, count, field[0] == 'r' ? "rows" : "columns");
  }
  return range;
}

PositionGroup window_of(const Around& around, int64_t index, int64_t count) {
  return {std::max<int64_t>(index - around.reach, 0), std::min(index + around.reach + 1, count)};
}

}  // namespace

AxisPart parse_part(const char* field, std::string_view text) {
  const size_t colon = std::min(text.find(':'), text.size());
  const std::string_view begin = text.substr(0, colon);
  const std::string_view end = text.substr(std::min(colon + 1, text.size()));
  const auto is_end = [](std::string_view one) {
    return one.empty() || parse_number<int64_t>(one).value_or(-1) >= 0;
  };
  if (colon == text.size() || !is_end(begin) || !is_end(end)) {
    fail(ErrorKind::kInvalidArgument, Field{field},
         "'{}' is not A:B, two numbers from 0 of which either may be left out", text);
  }
  return {parse_number<int64_t>(begin), parse_number<int64_t>(end)};
}

Around parse_around(std::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return {.token = std::string(text)};
  const auto reach = parse_number<int64_t>(text.substr(colon + 1));
  if (!reach) return {.token = std::string(text)};
  if (*reach < 0) {
    fail(ErrorKind::kInvalidArgument, Field{"around"}, "{} positions around it cannot be; from 0",
         *reach);
  }
  return {.token = std::string(text.substr(0, colon)), .reach = *reach};
}

int64_t Side::place_of(const FoundToken& found) const {
  if (found.index >= part.begin && found.index < part.end) return found.index - part.begin;
  fail(ErrorKind::kInvalidArgument, Field{"token"},
       "it is position {} but {} to {} are shown; choose a part with it", found.index, part.begin,
       part.end - 1);
}

MapPart map_part(const ViewChoice& choice, const Side& rows, const Side& cols) {
  MapPart part{{0, std::ssize(rows.all)}, {0, std::ssize(cols.all)}};
  if (choice.around) {
    const Side& side = choice.column ? cols : rows;
    ViewChoice named = choice;
    named.token = choice.around->token;
    const int64_t index = token_named(side, named, {"around"}).index;
    const bool one_axis = rows.axis == cols.axis;
    if (one_axis || !choice.column) part.rows = window_of(*choice.around, index, part.rows.end);
    if (one_axis || choice.column) part.cols = window_of(*choice.around, index, part.cols.end);
  }
  if (choice.rows) part.rows = resolved(*choice.rows, part.rows.end, "rows");
  if (choice.cols) part.cols = resolved(*choice.cols, part.cols.end, "cols");
  return part;
}

std::string part_note(const Side& rows, const Side& cols) {
  std::string note;
  const auto add = [&](const Side& side, const char* name) {
    if (!side.is_part()) return;
    note += fmt::format("{}{} {} to {} of {}", note.empty() ? " · " : ", ", name, side.part.begin,
                        side.part.end - 1, side.all.size());
  };
  add(rows, "rows");
  add(cols, "columns");
  return cols.is_part() ? note + ", sums of those alone" : note;
}

Side make_side(const Run& run, const std::string& axis, bool words, int64_t block,
               std::optional<PositionGroup> part) {
  Side side;
  // Steps of writing are named by what they predict; words are those that were written.
  const std::string written = run.find_axis("target") != nullptr ? "target" : "tokens";
  side.axis = &axis_of(run, words && axis == "steps" ? written : axis);
  side.all = words ? word_groups(*side.axis) : block_groups(*side.axis, 1);
  side.part = part.value_or(PositionGroup{0, std::ssize(side.all)});
  side.groups = in_blocks(std::span(side.all).subspan(static_cast<size_t>(side.part.begin),
                                                      static_cast<size_t>(side.part.size())),
                          block);
  side.shown = grouped_axis(*side.axis, side.groups);
  for (int64_t i = 0; words && i < static_cast<int64_t>(side.shown.positions.size()); ++i) {
    side.shown.positions[static_cast<size_t>(i)].text = plain_label(side.shown, i);
  }
  return side;
}

bool Frame::can_survey(HeadChoice head, bool words) const {
  // A map put together from several heads needs the weights of all of them at once.
  return head.kind == HeadChoice::Kind::kOne && !words && !rows.is_part() && !cols.is_part() &&
         (of == MapValue::kWeight || of == MapValue::kTimesEven);
}

MergedMap Frame::map(HeadChoice head) const {
  return merged_map(record, head, rows.groups, cols.groups, merge, of, left_out);
}

std::string Frame::note(bool words) const {
  return part_note(rows, cols) + merge_note(words);
}

std::string Frame::merge_note(bool words) const {
  const char* along =
      path ? " · cells along a Hilbert curve: near the diagonal is near in the picture" : "";
  if (block > 1 && merge == Merge::kMax) {
    return fmt::format(" · max over blocks of {0} x {0}", block) + along;
  }
  if (block > 1) {
    return fmt::format(" · per bin of {0} × {0}: {1}", block,
                       of == MapValue::kScore ? "mean" : "rows by mean, columns by sum") +
           along;
  }
  return words ? " · pieces merged to words (rows by mean, columns by sum)" : "";
}

Frame make_frame(const Run& run, const RecordPointer& record, const ViewChoice& choice,
                 int64_t panels, int64_t largest) {
  Frame frame;
  frame.record = record;
  frame.rows = make_side(run, record->row_axis, choice.words);
  frame.cols = make_side(run, record->col_axis, choice.words);
  const MapPart part = map_part(choice, frame.rows, frame.cols);
  const int64_t longest = std::max(part.rows.size(), part.cols.size());
  if (!choice.words && !choice.exact && longest > largest) {
    frame.block = (longest + largest - 1) / largest;
    frame.merge = Merge::kMax;
  }
  frame.rows = make_side(run, record->row_axis, choice.words, frame.block, part.rows);
  frame.cols = make_side(run, record->col_axis, choice.words, frame.block, part.cols);
  const int64_t groups = std::max(frame.rows.size(), frame.cols.size());
  if (choice.words && !choice.exact && groups > kLargestSide) {
    fail(ErrorKind::kInvalidArgument,
         "{} words are too many for a figure, {} at most; leave the pieces unmerged, then the map "
         "is pooled",
         groups, kLargestSide);
  }
  check_cells(*record, panels, frame.rows.size(), frame.cols.size());
  return frame;
}

FoundToken token_named(const Side& side, const ViewChoice& choice, Field field) {
  return choice.words ? word_named(*side.axis, side.all, *choice.token, field)
                      : token_named(*side.axis, *choice.token, field);
}

double largest_of(std::span<const float> weights) {
  double largest = 0;
  for (const float weight : weights) {
    if (!std::isnan(weight)) largest = std::max(largest, double{weight});
  }
  return largest;
}

ColorScale scale_to(double largest) {
  return {0, largest > 0 ? largest : 1};
}

Json metadata_of(const Run& run, const Frame& frame, HeadChoice head, const ColorScale& scale) {
  Json json = Json::object({{"version", version()},
                            {"method", "attention"},
                            {"model", run.model},
                            {"model_hash", run.model_hash},
                            {"input", frame.cols.axis->source}});
  const bool two_axes = frame.rows.axis != frame.cols.axis;
  if (two_axes) json.set("row_input", frame.rows.axis->source);
  json.set("site", to_string(frame.record->site));
  json.set("layer", frame.record->site.layer);
  json.set("head", to_json(head));
  json.set("scale", Json(Json::Array{scale.low, scale.high}));
  if (scale.curve != ScaleCurve::kLinear) json.set("curve", name_of(scale.curve));
  if (frame.of != MapValue::kWeight) {
    json.set("of", map_value_names()[static_cast<size_t>(frame.of)]);
  }
  if (frame.block > 1) json.set("pooled", frame.block);
  if (frame.path) json.set("order", "hilbert");
  const auto set_part = [&](const char* name, const Side& side) {
    if (side.is_part()) json.set(name, Json(Json::Array{side.part.begin, side.part.end}));
  };
  set_part("rows", frame.rows);
  set_part("cols", frame.cols);
  json.set("tokens", position_texts(frame.cols.shown));
  if (two_axes) json.set("row_tokens", position_texts(frame.rows.shown));
  return json;
}

}  // namespace fovea
