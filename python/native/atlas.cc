// Parts of one head's map.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>

#include "fovea/atlas/merged_map.h"
#include "python/native/modules.h"
#include "python/native/tensor.h"

namespace fovea::python {
namespace {

// Products of single numbers that take milliseconds. For more, Ctrl-C is looked for.
constexpr int64_t kFewProducts = int64_t{1} << 25;

int64_t products_of(const AttentionMap& map, int64_t cells) {
  return cells * map.record().queries.size(2);
}

template <typename Work>
auto by_size(const AttentionMap& map, int64_t cells, const Work& work) {
  return products_of(map, cells) <= kFewProducts ? at_once(work) : watched(work);
}

nb::ndarray<nb::numpy, float> tile_of(const AttentionMap& map, Region region) {
  const bool sane = region.rows() >= 0 && region.cols() >= 0;  // else refused below
  return array_of<float>(
      by_size(map, sane ? region.rows() * region.cols() : 0, [&] { return map.tile(region); }));
}

// As equal as neighbours can be grouped.
std::vector<PositionGroup> equal_groups(int64_t positions, int64_t count) {
  count = std::clamp<int64_t>(count, 1, std::max<int64_t>(positions, 1));
  std::vector<PositionGroup> groups;
  for (int64_t i = 0; i < count; ++i) {
    groups.push_back({i * positions / count, (i + 1) * positions / count});
  }
  return groups;
}

// The largest weight of each cell, or the mean of its weights; what the mask forbids counts as 0.
Tensor pooled_to(const AttentionMap& map, const std::shared_ptr<const AttentionRecord>& record,
                 int64_t rows, int64_t cols, bool largest) {
  const std::vector<PositionGroup> row_groups = equal_groups(map.rows(), rows);
  const std::vector<PositionGroup> col_groups = equal_groups(map.cols(), cols);
  const HeadChoice head{.kind = HeadChoice::Kind::kOne, .head = map.head()};
  Tensor cells =
      merged_map(record, head, row_groups, col_groups, largest ? Merge::kMax : Merge::kWords)
          .weights.clone();
  const MatrixView<float> view = cells.mutable_matrix<float>();
  for (int64_t r = 0; r < view.rows; ++r) {
    for (int64_t c = 0; c < view.cols; ++c) {
      float& cell = view(r, c);
      const auto width = static_cast<float>(col_groups[static_cast<size_t>(c)].size());
      cell = std::isnan(cell) ? 0 : largest ? cell : cell / width;
    }
  }
  return cells;
}

}  // namespace

void bind_atlas(nb::module_& module) {
  using namespace nb::literals;
  nb::class_<HeadMap>(module, "HeadMap", "One head's attention matrix, computed where it is read.")
      .def_prop_ro("rows", [](const HeadMap& self) { return self.map.rows(); })
      .def_prop_ro("columns", [](const HeadMap& self) { return self.map.cols(); })
      .def_prop_ro("head", [](const HeadMap& self) { return self.map.head(); })
      .def(
          "cell",
          [](const HeadMap& self, int64_t row, int64_t column) {
            return at_once([&] { return self.map.cell(row, column); });
          },
          "row"_a, "column"_a)
      .def(
          "row",
          [](const HeadMap& self, int64_t index) {
            return array_of<float>(at_once([&] { return self.map.row(index); }));
          },
          "index"_a)
      .def(
          "column",
          [](const HeadMap& self, int64_t index) {
            return array_of<float>(at_once([&] { return self.map.column(index); }));
          },
          "index"_a)
      .def(
          "tile",
          [](const HeadMap& self, int64_t row_begin, int64_t row_end, int64_t col_begin,
             int64_t col_end) {
            return tile_of(self.map, {row_begin, row_end, col_begin, col_end});
          },
          "row_begin"_a, "row_end"_a, "col_begin"_a, "col_end"_a)
      .def(
          "pooled",
          [](const HeadMap& self, int64_t rows, int64_t columns, bool largest) {
            return array_of<float>(by_size(self.map, self.map.rows() * self.map.cols(), [&] {
              return pooled_to(self.map, self.record, rows, columns, largest);
            }));
          },
          "rows"_a, "columns"_a, "largest"_a)
      .def(
          "top",
          [](const HeadMap& self, int64_t row, int64_t count) {
            const auto found = at_once([&] { return self.map.row_top(row, count); });
            std::vector<std::pair<int64_t, float>> pairs;
            for (const ColumnWeight& each : found) pairs.emplace_back(each.column, each.weight);
            return pairs;
          },
          "row"_a, "count"_a)
      .def("column_sums",
           [](const HeadMap& self) {
             return array_of<double>(by_size(self.map, self.map.rows() * self.map.cols(),
                                             [&] { return self.map.column_sums(); }));
           })
      .def("entropy", [](const HeadMap& self) {
        return array_of<double>(by_size(self.map, self.map.rows() * self.map.cols(),
                                        [&] { return self.map.entropy(); }));
      });
}

}  // namespace fovea::python
