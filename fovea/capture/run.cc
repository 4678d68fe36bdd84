#include "fovea/capture/run.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace fovea {
namespace {

void check_axis(const Run& run, const AttentionRecord& record, const std::string& name,
                int64_t count, std::string_view side) {
  const Axis* axis = run.find_axis(name);
  if (axis == nullptr) {
    fail(ErrorKind::kInvalidArgument, "{}: its {} count along '{}' but the run has no such axis",
         to_string(record.site), side, name);
  }
  if (static_cast<int64_t>(axis->positions.size()) != count) {
    fail(ErrorKind::kInvalidArgument, "{}: has {} {} but the axis '{}' has {} positions",
         to_string(record.site), count, side, name, axis->positions.size());
  }
}

void check_grid(const Axis& axis) {
  const auto positions = static_cast<int64_t>(axis.positions.size());
  // Divided, not multiplied: the sizes come from a file and could overflow.
  const bool none = axis.grid_rows == 0 && axis.grid_cols == 0;
  if (none ||
      (axis.grid_rows > 0 && axis.grid_cols > 0 && axis.grid_rows <= positions / axis.grid_cols)) {
    return;
  }
  fail(ErrorKind::kInvalidArgument, "the axis '{}' has {} positions, too few for a grid of {} x {}",
       axis.name, positions, axis.grid_rows, axis.grid_cols);
}

void check_picture(const Run& run) {
  if (run.picture.empty()) return;
  const Tensor& picture = run.picture;
  if (picture.dtype() != DType::kU8 || picture.rank() != 3 || picture.size(2) != 3 ||
      std::max(picture.size(0), picture.size(1)) > kLongestPictureSide) {
    fail(ErrorKind::kInvalidArgument,
         "the picture is {} {} but should be U8 [height, width, 3] of at "
         "most {} pixels each way",
         dtype_name(picture.dtype()), to_string(picture.shape()), kLongestPictureSide);
  }
  if (std::ranges::none_of(run.axes, [](const Axis& axis) { return axis.grid_rows > 0; })) {
    fail(ErrorKind::kInvalidArgument,
         "the run has a picture but none of its axes has a grid that lies over it");
  }
}

}  // namespace

const Axis* Run::find_axis(std::string_view name) const {
  const auto it =
      std::find_if(axes.begin(), axes.end(), [&](const Axis& axis) { return axis.name == name; });
  return it == axes.end() ? nullptr : &*it;
}

const ExpertChoice* Run::find_experts(int layer) const {
  const auto found = std::ranges::find(experts, layer, &ExpertChoice::layer);
  return found == experts.end() ? nullptr : &*found;
}

std::shared_ptr<const AttentionRecord> Run::record(SiteId site) const {
  std::vector<std::string> names;
  for (const auto& candidate : records) {
    if (candidate->site == site) return candidate;
    names.push_back(to_string(candidate->site));
  }
  fail(ErrorKind::kNotFound, "the run has no {}; it has: {}", to_string(site),
       fmt::join(names, ", "));
}

void validate(const Run& run) {
  std::set<std::string_view> names;
  for (const Axis& axis : run.axes) {
    if (!names.insert(axis.name).second) {
      fail(ErrorKind::kInvalidArgument, "the run has two axes named '{}'", axis.name);
    }
    check_grid(axis);
    for (const Position& position : axis.positions) {
      if (position.source_begin < 0 || position.source_end < position.source_begin ||
          position.source_end > static_cast<int64_t>(axis.source.size())) {
        fail(ErrorKind::kInvalidArgument,
             "the axis '{}' has a position at bytes {}..{} of a text of {} bytes", axis.name,
             position.source_begin, position.source_end, axis.source.size());
      }
    }
  }
  check_picture(run);
  std::set<SiteId> sites;
  for (const auto& record : run.records) {
    validate(*record);
    if (!sites.insert(record->site).second) {
      fail(ErrorKind::kInvalidArgument, "the run has two records of {}", to_string(record->site));
    }
    const AttentionShape shape = record->shape();
    check_axis(run, *record, record->row_axis, shape.rows, "rows");
    check_axis(run, *record, record->col_axis, shape.cols, "columns");
  }
}

}  // namespace fovea
