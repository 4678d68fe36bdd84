#include "fovea/atlas/attention_map.h"

#include <algorithm>

#include "fovea/base/parallel.h"
#include "fovea/kernels/attention_tile.h"

namespace fovea {
namespace {

// Rows that a thread takes at a time: some 0.1 ms of work, since waking a thread for less costs
// more than it saves, and often enough a look at whether it is cancelled.
int64_t tile_rows_per_item(int64_t cols, int64_t depth) {
  constexpr int64_t kItemProducts = int64_t{1} << 22;
  return std::max<int64_t>(kItemProducts / std::max<int64_t>(cols * std::max<int64_t>(depth, 1), 1),
                           12);
}

}  // namespace

AttentionInputs inputs_of(const AttentionRecord& record) {
  check_has_queries(record, "this is computed from");
  AttentionInputs inputs{
      HeadsView::of(record.queries), HeadsView::of(record.keys), {}, &record.rule};
  if (!record.values.empty()) inputs.values = HeadsView::of(record.values);
  return inputs;
}

namespace {

const AttentionRecord& with_head(const AttentionRecord& record, int64_t head) {
  const int64_t heads = record.shape().heads;
  if (head < 0 || head >= heads) {
    fail(ErrorKind::kInvalidArgument, "{} has no head {}; its {} heads are 0 to {}",
         to_string(record.site), head, heads, heads - 1);
  }
  return record;
}

}  // namespace

AttentionMap::AttentionMap(std::shared_ptr<const AttentionRecord> record, int64_t head)
    : record_(std::move(record)),
      head_(head),
      shape_(record_->shape()),
      source_(with_head(*record_, head), head) {}

void AttentionMap::check(Region region) const {
  const bool inside = region.row_begin >= 0 && region.row_begin <= region.row_end &&
                      region.row_end <= rows() && region.col_begin >= 0 &&
                      region.col_begin <= region.col_end && region.col_end <= cols();
  if (inside) return;
  fail(ErrorKind::kInvalidArgument,
       "rows {} to {} and columns {} to {} are not within the map of {} rows and {} columns",
       region.row_begin, region.row_end, region.col_begin, region.col_end, rows(), cols());
}

KeyRange AttentionMap::visible(int64_t row_begin, int64_t row_end) const {
  // Ranges only move forward with the row, so first and last row decide.
  const Mask& mask = record_->rule.mask;
  return {mask.key_range(row_begin, cols()).begin, mask.key_range(row_end - 1, cols()).end};
}

float AttentionMap::cell(int64_t row, int64_t column) const {
  return tile({row, row + 1, column, column + 1}).values<float>()[0];
}

std::vector<float> AttentionMap::row(int64_t index) const {
  const Tensor values = tile({index, index + 1, 0, cols()});
  return {values.values<float>().begin(), values.values<float>().end()};
}

std::vector<float> AttentionMap::column(int64_t index) const {
  const Tensor values = tile({0, rows(), index, index + 1});
  return {values.values<float>().begin(), values.values<float>().end()};
}

Tensor AttentionMap::tile(Region region) const {
  check(region);
  Tensor out = Tensor::uninitialized({region.rows(), region.cols()});
  tile(region, out.mutable_matrix<float>());
  return out;
}

void AttentionMap::tile(Region region, MatrixView<float> out) const {
  check(region);
  if (out.rows != region.rows() || out.cols != region.cols()) {
    fail(ErrorKind::kInvalidArgument, "a region of {} x {} cells does not fit a buffer of {} x {}",
         region.rows(), region.cols(), out.rows, out.cols);
  }
  if (region.rows() == 0 || region.cols() == 0) return;
  const KeyRange columns{region.col_begin, region.col_end};
  const HeadRows rows(source_, columns);
  const int64_t item_rows = tile_rows_per_item(region.cols(), shape_.head_dim);
  parallel_for((region.rows() + item_rows - 1) / item_rows, [&](int64_t item) {
    const int64_t first = item * item_rows;
    const int64_t count = std::min(region.rows() - first, item_rows);
    rows.read(region.row_begin + first, columns, out.block(first, 0, count, out.cols));
  });
}

Tensor AttentionMap::score_tile(Region region) const {
  check(region);
  check_has_queries(*record_, "scores are made of");
  Tensor out = Tensor::uninitialized({region.rows(), region.cols()});
  if (region.rows() == 0 || region.cols() == 0) return out;
  const KeyRange columns{region.col_begin, region.col_end};
  const HeadRows rows(source_, columns);
  const MatrixView<float> view = out.mutable_matrix<float>();
  const int64_t item_rows = tile_rows_per_item(region.cols(), shape_.head_dim);
  parallel_for((region.rows() + item_rows - 1) / item_rows, [&](int64_t item) {
    const int64_t first = item * item_rows;
    const int64_t count = std::min(region.rows() - first, item_rows);
    rows.read_scores(region.row_begin + first, columns, view.block(first, 0, count, view.cols));
  });
  return out;
}

std::vector<ColumnWeight> AttentionMap::row_top(int64_t index, int64_t count) const {
  const std::vector<float> weights = row(index);
  std::vector<ColumnWeight> top;
  for (size_t j = 0; j < weights.size(); ++j) {
    if (weights[j] > 0) top.push_back({static_cast<int64_t>(j), weights[j]});
  }
  const auto kept = top.begin() + std::clamp<int64_t>(count, 0, static_cast<int64_t>(top.size()));
  std::partial_sort(top.begin(), kept, top.end(), [](const ColumnWeight& a, const ColumnWeight& b) {
    return a.weight != b.weight ? a.weight > b.weight : a.column < b.column;
  });
  top.erase(kept, top.end());
  return top;
}

Tensor AttentionMap::gradient_tile(Region region) const {
  check(region);
  if (record_->output_gradient.empty() || record_->values.empty()) {
    fail(ErrorKind::kInvalidArgument,
         "{} was captured without {}; run a gradient method, which captures both",
         to_string(record_->site), record_->values.empty() ? "values" : "an output gradient");
  }
  Tensor out = Tensor::uninitialized({region.rows(), region.cols()});
  const MatrixView<float> view = out.mutable_matrix<float>();
  const HeadsView gradient = HeadsView::of(record_->output_gradient);
  const int64_t item_rows = tile_rows_per_item(region.cols(), shape_.value_dim);
  parallel_for((region.rows() + item_rows - 1) / item_rows, [&](int64_t item) {
    const int64_t first = item * item_rows;
    dot_tile(gradient, head_, region.row_begin + first, source_.inputs.values,
             shape_.kv_head(head_), {region.col_begin, region.col_end},
             view.block(first, 0, std::min(region.rows() - first, item_rows), view.cols));
  });
  return out;
}

}  // namespace fovea
