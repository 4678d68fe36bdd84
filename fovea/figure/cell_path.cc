#include "fovea/figure/cell_path.h"

#include <algorithm>

#include "fovea/atlas/reordered.h"
#include "fovea/explain/pictures/picture_axis.h"
#include "fovea/figure/hilbert_curve.h"

namespace fovea {

CellPath::CellPath(const Axis& grid) : axis(grid) {
  const PictureAxis picture = PictureAxis::of(grid);
  for (const int64_t cell : hilbert_order(grid.grid_rows, grid.grid_cols)) {
    order.push_back(picture.specials + cell);
  }
  for (int64_t special = 0; special < picture.specials; ++special) order.push_back(special);
  places.resize(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    axis.positions[i] = grid.positions[static_cast<size_t>(order[i])];
    places[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  }
}

std::shared_ptr<const AttentionRecord> CellPath::along(const AttentionRecord& record) const {
  return reordered(record, order, order);
}

PathKey CellPath::key() const {
  const int64_t cells = axis.grid_rows * axis.grid_cols;
  PathKey key{.rows = axis.grid_rows, .cols = axis.grid_cols};
  const int64_t specials = std::ssize(order) - cells;
  for (int64_t cell = 0; cell < cells; ++cell) {
    key.section.push_back(places[static_cast<size_t>(specials + cell)] * PathKey::kSections /
                          cells);
  }
  return key;
}

void follow_path(Frame& frame) {
  const bool whole = !frame.rows.is_part() && !frame.cols.is_part();
  const bool of_picture = frame.rows.axis == frame.cols.axis && frame.rows.axis->grid_rows > 0;
  if (frame.block == 1 || !whole || !of_picture || !can_be_reordered(*frame.record)) return;
  frame.path = std::make_shared<const CellPath>(*frame.rows.axis);
  int64_t block = 4;
  while (block < frame.block) block *= 4;
  frame.block = block;
  frame.record = frame.path->along(*frame.record);
  for (Side* side : {&frame.rows, &frame.cols}) {
    side->axis = &frame.path->axis;
    side->groups = block_groups(*side->axis, block);
    side->shown = grouped_axis(*side->axis, side->groups);
  }
}

}  // namespace fovea
