#include "fovea/explain/relevancy.h"

#include <algorithm>

#include "fovea/atlas/attention_map.h"
#include "fovea/base/error.h"
#include "fovea/kernels/attention_relevance.h"
#include "fovea/tensor/convert.h"

namespace fovea {
namespace {

using Vector = std::vector<double>;
using Layers = std::span<const std::shared_ptr<const AttentionRecord>>;

// The record as the kernel reads it.
struct Graded {
  explicit Graded(const AttentionRecord& record) : lse(convert(record.lse, DType::kF64)) {
    if (record.values.empty() || record.output_gradient.empty()) {
      fail(ErrorKind::kInvalidArgument,
           "{} was captured without {}; run a gradient method, which captures both",
           to_string(record.site), record.values.empty() ? "values" : "an output gradient");
    }
    attention = {inputs_of(record), lse.values<double>(), HeadsView::of(record.output_gradient)};
    validate(attention);
  }

  Tensor lse;
  GradedAttention attention;
};

void check_same_positions(const AttentionRecord& record, int64_t found, int64_t wanted) {
  if (found == wanted) return;
  fail(ErrorKind::kInvalidArgument,
       "{} has {} positions but the layers around it have {}; they must be of one run",
       to_string(record.site), found, wanted);
}

void add_relevance(Vector& sum, const Vector& more) {
  for (size_t i = 0; i < sum.size(); ++i) sum[i] += more[i];
}

Vector sum_of(std::span<const double> a, const Vector& b) {
  Vector sum(a.begin(), a.end());
  add_relevance(sum, b);
  return sum;
}

// (R - I) x for R = (I + E_L) ... (I + E_1). Small E would be lost beside I.
Vector beyond_identity_right(Layers layers, std::span<const double> x) {
  Vector beyond(x.size());
  for (const auto& record : layers) {
    add_relevance(beyond, relevancy_times_right(*record, sum_of(x, beyond)));
  }
  return beyond;
}

// Row sums of R - I before the first layer, after it, and so on.
std::vector<Vector> sums_beyond_identity(Layers layers, size_t positions) {
  const Vector ones(positions, 1.0);
  std::vector<Vector> sums{Vector(positions)};
  for (const auto& record : layers) {
    Vector next = sums.back();
    add_relevance(next, relevancy_times_right(*record, sum_of(ones, next)));
    sums.push_back(std::move(next));
  }
  return sums;
}

// w (R - I)
Vector beyond_identity_left(Layers layers, std::span<const double> w) {
  Vector beyond(w.size());
  for (size_t layer = layers.size(); layer-- > 0;) {
    add_relevance(beyond, relevancy_times_left(*layers[layer], sum_of(w, beyond)));
  }
  return beyond;
}

bool has_zero(const Vector& sums) {
  return std::ranges::count(sums, 0.0) > 0;
}

// The decoder's layers whose self-attention comes before the cross-attention of `layer`.
size_t layers_up_to(const LayerRecords& decoder, int layer) {
  return static_cast<size_t>(std::ranges::count_if(
      decoder, [&](const auto& record) { return record->site.layer <= layer; }));
}

void check_stacks(const RelevancyStacks& stacks, size_t rows) {
  if (stacks.cross.empty()) {
    fail(ErrorKind::kInvalidArgument, "relevancy between two stacks needs cross-attention");
  }
  const int64_t cols = stacks.cross.front()->shape().cols;
  const auto check = [](const LayerRecords& layers, int64_t of_rows, int64_t of_cols) {
    for (const auto& record : layers) {
      check_same_positions(*record, record->shape().rows, of_rows);
      check_same_positions(*record, record->shape().cols, of_cols);
    }
  };
  const auto steps = static_cast<int64_t>(rows);
  check(stacks.cross, steps, cols);
  check(stacks.decoder, steps, steps);
  check(stacks.encoder, cols, cols);
}

}  // namespace

std::vector<double> relevancy_times_left(const AttentionRecord& record, std::span<const double> r) {
  return relevance_times_left(Graded(record).attention, r);
}

std::vector<double> relevancy_times_right(const AttentionRecord& record,
                                          std::span<const double> x) {
  return relevance_times_right(Graded(record).attention, x);
}

std::vector<double> rows_read(const AttentionRecord& last) {
  const HeadsView gradient = Graded(last).attention.out_gradient;
  Vector rows(static_cast<size_t>(gradient.rows));
  std::vector<float> row(static_cast<size_t>(gradient.dim));
  double count = 0;
  for (int64_t i = 0; i < gradient.rows; ++i) {
    bool read = false;
    for (int64_t head = 0; head < gradient.heads && !read; ++head) {
      gradient.read_row(head, i, 1, row.data());
      read = std::ranges::any_of(row, [](float value) { return value != 0; });
    }
    if (!read) continue;
    rows[static_cast<size_t>(i)] = 1;
    ++count;
  }
  for (double& weight : rows) weight = count > 0 ? weight / count : 0;
  return rows;
}

void pass_relevancy(const AttentionRecord& record, std::vector<double>& r) {
  const AttentionShape shape = record.shape();
  check_same_positions(record, shape.rows, static_cast<int64_t>(r.size()));
  check_same_positions(record, shape.cols, static_cast<int64_t>(r.size()));
  add_relevance(r, relevancy_times_left(record, r));
}

CrossRelevancy cross_relevancy(const RelevancyStacks& stacks, std::span<const double> rows,
                               ZeroRows zero_rows) {
  check_stacks(stacks, rows.size());
  const auto source = static_cast<size_t>(stacks.cross.front()->shape().cols);
  const Vector encoder_sums = sums_beyond_identity(stacks.encoder, source).back();
  const std::vector<Vector> decoder_sums = sums_beyond_identity(stacks.decoder, rows.size());
  CrossRelevancy result;
  // v: what the layers' cross-attentions gather, before N(R_ii). r: the row on its way to layer 1.
  Vector v(source), r(rows.begin(), rows.end());
  size_t passed = stacks.decoder.size();
  for (size_t at = stacks.cross.size(); at-- > 0;) {
    const AttentionRecord& cross = *stacks.cross[at];
    const size_t below = layers_up_to(stacks.decoder, cross.site.layer);
    while (passed > below) pass_relevancy(*stacks.decoder[--passed], r);
    const Vector& sums = decoder_sums[below];
    const bool zero = has_zero(sums) || has_zero(encoder_sums);
    result.zero_layers += zero ? 1 : 0;
    if (zero && zero_rows == ZeroRows::kDropsLayer) continue;
    // r N(R_qq)^T = N(R_qq) r
    Vector gathered = beyond_identity_right(std::span(stacks.decoder).first(below), r);
    for (size_t k = 0; k < gathered.size(); ++k) {
      gathered[k] = (sums[k] > 0 ? gathered[k] / sums[k] : 0) + r[k];
    }
    add_relevance(v, relevancy_times_left(cross, gathered));
  }
  // v N(R_ii)
  Vector shares(source);
  for (size_t j = 0; j < source; ++j) shares[j] = encoder_sums[j] > 0 ? v[j] / encoder_sums[j] : 0;
  result.source = sum_of(v, beyond_identity_left(stacks.encoder, shares));
  return result;
}

}  // namespace fovea
