#include "fovea/explain/value_norm.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/cancel.h"
#include "fovea/base/error.h"
#include "fovea/base/parallel.h"

namespace fovea {
namespace {

// Columns whose g_h(j) are in memory at a time.
constexpr int64_t kNormColumnBlock = 128;

double dot_product(const float* a, const float* b, int64_t count) {
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += double{a[i]} * double{b[i]};
  return sum;
}

double length(std::span<const double> vector) {
  double square = 0;
  for (const double value : vector) square += value * value;
  return std::sqrt(square);
}

double length(std::span<const float> vector) {
  return std::sqrt(dot_product(vector.data(), vector.data(), static_cast<int64_t>(vector.size())));
}

// weights[h] g_h(column) summed over heads and scaled; `column` counts within `terms`.
std::vector<double> term_of(std::span<const double> weights, const Tensor& terms, int64_t column,
                            double scale) {
  std::vector<double> term(static_cast<size_t>(terms.size(2)));
  for (size_t h = 0; h < weights.size(); ++h) {
    const float* part = terms.matrix<float>(static_cast<int64_t>(h)).row(column);
    for (size_t c = 0; c < term.size(); ++c) term[c] += scale * weights[h] * double{part[c]};
  }
  return term;
}

void add_part(std::vector<double>& sum, std::span<const float> part) {
  for (size_t c = 0; c < sum.size(); ++c) sum[c] += double{part[c]};
}

std::vector<double> weights_at(const Tensor& weights, int64_t row, int64_t col) {
  std::vector<double> a(static_cast<size_t>(weights.size(0)));
  for (size_t h = 0; h < a.size(); ++h) {
    a[h] = double{weights.matrix<float>(static_cast<int64_t>(h))(row, col)};
  }
  return a;
}

bool own_column(const BlockSum& sum, int64_t row, int64_t col) {
  return row == col && sum.has_residual() && sum.residual_in_columns();
}

// Room for the row, and for the residual behind it if that belongs to no column.
std::vector<double> room_for_row(const BlockSum& sum, int64_t i) {
  std::vector<double> norms(static_cast<size_t>(sum.cols()));
  if (sum.has_residual() && !sum.residual_in_columns()) norms.push_back(length(sum.residual(i)));
  return norms;
}

void check_head(const AttentionRecord& record, BlockExtent extent, std::optional<int64_t> head) {
  if (!head) return;
  if (*head < 0 || *head >= record.shape().heads) {
    fail(ErrorKind::kInvalidArgument, "{} has no head {}; its heads are 0 to {}",
         to_string(record.site), *head, record.shape().heads - 1);
  }
  if (extent != BlockExtent::kAttention) {
    fail(ErrorKind::kInvalidArgument,
         "head {} alone has no {}, which is of all heads together; ask for attention alone", *head,
         kBlockExtents.name_of(extent));
  }
}

}  // namespace

std::vector<double> value_grams(const BlockSum& sum) {
  const int64_t heads = sum.heads(), area = heads * heads;
  std::vector<double> grams(static_cast<size_t>(sum.cols() * area));
  for (int64_t begin = 0; begin < sum.cols(); begin += kNormColumnBlock) {
    check_cancelled();
    const int64_t end = std::min(begin + kNormColumnBlock, sum.cols());
    const Tensor terms = sum.head_terms(begin, end);
    parallel_for(end - begin, [&](int64_t item) {
      double* gram = grams.data() + (begin + item) * area;
      for (int64_t h = 0; h < heads; ++h) {
        for (int64_t g = 0; g <= h; ++g) {
          gram[h * heads + g] = gram[g * heads + h] = dot_product(
              terms.matrix<float>(h).row(item), terms.matrix<float>(g).row(item), sum.width());
        }
      }
    });
  }
  return grams;
}

double gram_norm(std::span<const double> a, const double* gram) {
  double square = 0;
  for (const double left : a) {
    double row = 0;
    for (const double right : a) row += *gram++ * right;
    square += left * row;
  }
  // Rounding may leave a small negative number where the vectors cancel.
  return std::sqrt(std::max(square, 0.0));
}

std::vector<double> value_norm_row(const std::shared_ptr<const AttentionRecord>& record, int64_t i,
                                   BlockExtent extent, std::optional<int64_t> head) {
  check_head(*record, extent, head);
  const BlockSum sum(record, extent, {i, i + 1});
  const Tensor weights = weights_of_rows(sum, i, i + 1);
  std::vector<double> norms = room_for_row(sum, i);
  for (int64_t begin = 0; begin < sum.cols(); begin += kNormColumnBlock) {
    check_cancelled();
    const int64_t end = std::min(begin + kNormColumnBlock, sum.cols());
    const Tensor terms = sum.head_terms(begin, end);
    parallel_for(end - begin, [&](int64_t item) {
      const int64_t j = begin + item;
      std::vector<double> a = weights_at(weights, 0, j);
      for (size_t h = 0; h < a.size() && head; ++h) {
        if (static_cast<int64_t>(h) != *head) a[h] = 0;
      }
      std::vector<double> term = term_of(a, terms, item, sum.scale(i));
      if (own_column(sum, i, j)) add_part(term, sum.residual(i));
      norms[static_cast<size_t>(j)] = length(term);
    });
  }
  return norms;
}

std::vector<double> mixing_ratios(const BlockSum& sum) {
  sum.check_own_columns();
  std::vector<double> ratios;
  Tensor own_terms;  // of a block of rows
  const RowRange rows = sum.rows();
  for (int64_t i = rows.begin; i < rows.end; ++i) {
    const int64_t in_block = (i - rows.begin) % kNormColumnBlock;
    if (in_block == 0) {
      check_cancelled();
      const int64_t last = std::min(i + kNormColumnBlock, rows.end);
      if (sum.residual_in_columns()) own_terms = sum.head_terms(i, last);
    }
    // All positions' terms: the output without residual and biases.
    std::vector<double> others = sum.constant(i);
    for (size_t c = 0; c < others.size(); ++c) {
      others[c] = double{sum.output(i)[c]} - others[c] -
                  (sum.has_residual() ? double{sum.residual(i)[c]} : 0);
    }
    std::vector<double> own(others.size());
    if (sum.residual_in_columns()) {
      std::vector<double> a;
      for (const AttentionMap& map : sum.maps()) a.push_back(double{map.cell(i, i)});
      own = term_of(a, own_terms, in_block, sum.scale(i));
      for (size_t c = 0; c < others.size(); ++c) others[c] -= own[c];
    }
    if (sum.has_residual()) add_part(own, sum.residual(i));
    const double elsewhere = length(others), here = length(own);
    ratios.push_back(elsewhere + here > 0 ? elsewhere / (elsewhere + here) : 0);
  }
  return ratios;
}

std::vector<double> mixing_ratios(const std::shared_ptr<const AttentionRecord>& record,
                                  BlockExtent extent) {
  return mixing_ratios(BlockSum(record, extent, {0, record->shape().rows}));
}

}  // namespace fovea
