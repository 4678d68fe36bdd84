#include "fovea/figure/view_frame.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "fovea/base/error.h"
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

Side make_side(const Run& run, const std::string& axis, bool words, int64_t block) {
  Side side;
  // Steps of writing are named by what they predict; words are those that were written.
  const std::string written = run.find_axis("target") != nullptr ? "target" : "tokens";
  side.axis = &axis_of(run, words && axis == "steps" ? written : axis);
  side.groups = words ? word_groups(*side.axis) : block_groups(*side.axis, block);
  side.shown = grouped_axis(*side.axis, side.groups);
  for (int64_t i = 0; words && i < static_cast<int64_t>(side.shown.positions.size()); ++i) {
    side.shown.positions[static_cast<size_t>(i)].text = plain_label(side.shown, i);
  }
  return side;
}

MergedMap Frame::map(HeadChoice head) const {
  // A map put together from several heads needs the weights of all of them at once.
  const bool of_weights = of == MapValue::kWeight || of == MapValue::kTimesEven;
  if (block > 1 && head.kind == HeadChoice::Kind::kOne && of_weights) {
    return pooled_map(record, head.head, block, merge, of);
  }
  return merged_map(record, head, rows.groups, cols.groups, merge, of);
}

std::string Frame::note(bool words) const {
  if (block > 1 && merge == Merge::kMax) {
    return fmt::format(" · max over blocks of {0} x {0}", block);
  }
  if (block > 1) {
    return fmt::format(" · per bin of {0} × {0}: {1}", block,
                       of == MapValue::kScore ? "mean" : "rows by mean, columns by sum");
  }
  return words ? " · pieces merged to words (rows by mean, columns by sum)" : "";
}

Frame make_frame(const Run& run, const RecordPointer& record, const ViewChoice& choice,
                 int64_t panels, int64_t largest) {
  Frame frame;
  frame.record = record;
  const AttentionShape shape = record->shape();
  const int64_t longest = std::max(shape.rows, shape.cols);
  if (!choice.words && !choice.exact && longest > largest) {
    frame.block = (longest + largest - 1) / largest;
    frame.merge = Merge::kMax;
  }
  frame.rows = make_side(run, record->row_axis, choice.words, frame.block);
  frame.cols = make_side(run, record->col_axis, choice.words, frame.block);
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

FoundToken token_named(const Side& side, const ViewChoice& choice) {
  return choice.words ? word_named(*side.axis, side.groups, *choice.token)
                      : token_named(*side.axis, *choice.token);
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
  json.set("tokens", position_texts(frame.cols.shown));
  if (two_axes) json.set("row_tokens", position_texts(frame.rows.shown));
  return json;
}

}  // namespace fovea
