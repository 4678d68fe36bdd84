#include "fovea/explain/alti.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fovea/base/cancel.h"
#include "fovea/base/error.h"
#include "fovea/base/parallel.h"

namespace fovea {
namespace {

using Layers = std::span<const std::shared_ptr<const AttentionRecord>>;

// Columns whose g_h(j) are in memory at a time.
constexpr int64_t kAltiColumnBlock = 64;

// Sums that do not wait for each other.
constexpr size_t kLanes = 8;

// sum of part(c) over [0, count).
template <typename Part>
double sum_in_lanes(size_t count, const Part& part) {
  double lanes[kLanes] = {};
  size_t c = 0;
  for (; c + kLanes <= count; c += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) lanes[lane] += part(c + lane);
  }
  double sum = 0;
  for (; c < count; ++c) sum += part(c);
  for (const double lane : lanes) sum += lane;
  return sum;
}

// ||y - term||, or ||y|| without a term.
double distance_from(std::span<const float> y, const float* term, AltiDistance distance) {
  const auto rest = [&](size_t c) { return double{term == nullptr ? y[c] : y[c] - term[c]}; };
  if (distance == AltiDistance::kL1) {
    return sum_in_lanes(y.size(), [&](size_t c) { return std::abs(rest(c)); });
  }
  return std::sqrt(sum_in_lanes(y.size(), [&](size_t c) { return rest(c) * rest(c); }));
}

// T_ij of columns [begin, end) against y_i, for every row.
void add_columns(const BlockSum& sum, int64_t begin, int64_t end, AltiDistance distance,
                 Matrix& shares) {
  const Tensor terms = sum.head_terms(begin, end);
  Tensor weights = Tensor::uninitialized({sum.heads(), sum.rows().end, end - begin});
  for (const AttentionMap& map : sum.maps()) {
    map.tile({0, sum.rows().end, begin, end}, weights.mutable_matrix<float>(map.head()));
  }
  const bool own = sum.has_residual() && sum.residual_in_columns();
  parallel_for(sum.rows().end, [&](int64_t i) {
    const double whole = distance_from(sum.output(i), nullptr, distance);
    std::vector<float> term(static_cast<size_t>(sum.width()));
    for (int64_t j = begin; j < end; ++j) {
      bool is_zero = !(own && i == j);
      std::fill(term.begin(), term.end(), 0.0F);
      if (!is_zero) std::ranges::copy(sum.residual(i), term.begin());
      for (int64_t h = 0; h < sum.heads(); ++h) {
        const float weight =
            weights.matrix<float>(h)(i, j - begin) * static_cast<float>(sum.scale(i));
        if (weight == 0) continue;
        is_zero = false;
        const float* part = terms.matrix<float>(h).row(j - begin);
        for (size_t c = 0; c < term.size(); ++c) term[c] += weight * part[c];
      }
      if (is_zero) continue;  // a masked pair
      shares.row(i)[static_cast<size_t>(j)] =
          std::max(whole - distance_from(sum.output(i), term.data(), distance), 0.0);
    }
  });
}

void normalise(Matrix& shares, bool own_columns) {
  for (int64_t i = 0; i < shares.rows(); ++i) {
    const std::span<double> row = shares.row(i);
    const double sum = std::accumulate(row.begin(), row.end(), 0.0);
    for (double& share : row) share = sum > 0 ? share / sum : 0;
    if (sum <= 0) row[static_cast<size_t>(own_columns ? i : shares.cols() - 1)] = 1;
  }
}

void check_row(int64_t row, int64_t rows) {
  if (row >= 0 && row < rows) return;
  fail(ErrorKind::kInvalidArgument, "there is no position {} among {}; they are 0 to {}", row, rows,
       rows - 1);
}

// r times the first `cols` columns.
std::vector<double> times(std::span<const double> r, const Matrix& matrix, int64_t cols) {
  if (static_cast<int64_t>(r.size()) != matrix.rows()) {
    fail(ErrorKind::kInvalidArgument,
         "a layer has {} rows but the one behind it {}; ALTI needs self-attentions over the same "
         "positions",
         matrix.rows(), r.size());
  }
  std::vector<double> product(static_cast<size_t>(cols));
  for (int64_t i = 0; i < matrix.rows(); ++i) {
    const double weight = r[static_cast<size_t>(i)];
    for (size_t j = 0; j < product.size(); ++j) product[j] += weight * matrix.row(i)[j];
  }
  return product;
}

std::vector<double> through(Layers layers, std::vector<double> r, AltiDistance distance) {
  for (size_t layer = layers.size(); layer-- > 0;) {
    const Matrix shares = alti_shares(layers[layer], distance);
    r = times(r, shares, shares.cols());
  }
  return r;
}

}  // namespace

Matrix alti_shares(const std::shared_ptr<const AttentionRecord>& record, AltiDistance distance) {
  const AttentionShape shape = record->shape();
  if (std::max(shape.rows, shape.cols) > kMostAltiPositions) {
    fail(ErrorKind::kUnsupported,
         "{} has {} positions but ALTI compares a vector for each pair of them and takes up to {}; "
         "use value-norm or rollout, or a shorter input",
         to_string(record->site), std::max(shape.rows, shape.cols), kMostAltiPositions);
  }
  const BlockSum sum(record, BlockExtent::kNorm, {0, shape.rows});
  const bool own = sum.residual_in_columns();
  if (own) sum.check_own_columns();
  Matrix shares(shape.rows, shape.cols + (own ? 0 : 1));
  for (int64_t begin = 0; begin < shape.cols; begin += kAltiColumnBlock) {
    check_cancelled();
    add_columns(sum, begin, std::min(begin + kAltiColumnBlock, shape.cols), distance, shares);
  }
  for (int64_t i = 0; i < shape.rows && !own && sum.has_residual(); ++i) {
    const double whole = distance_from(sum.output(i), nullptr, distance);
    shares(i, shape.cols) =
        std::max(whole - distance_from(sum.output(i), sum.residual(i).data(), distance), 0.0);
  }
  normalise(shares, own);
  return shares;
}

std::vector<double> alti(Layers layers, int64_t target, AltiDistance distance) {
  if (layers.empty()) fail(ErrorKind::kInvalidArgument, "ALTI needs at least one layer");
  check_row(target, layers.back()->shape().rows);
  std::vector<double> r(static_cast<size_t>(layers.back()->shape().rows));
  r[static_cast<size_t>(target)] = 1;
  return through(layers, std::move(r), distance);
}

SourceAndTarget alti_plus(const EncoderDecoderLayers& layers, int64_t step, AltiDistance distance) {
  const LayerRecords& cross = layers.cross;
  if (cross.empty() || cross.size() != layers.decoder_self.size()) {
    fail(ErrorKind::kInvalidArgument,
         "ALTI+ needs cross- and self-attention of every decoder layer but has {} and {}",
         cross.size(), layers.decoder_self.size());
  }
  const AttentionShape shape = cross.back()->shape();
  check_row(step, shape.rows);
  std::vector<double> target(static_cast<size_t>(shape.rows));
  target[static_cast<size_t>(step)] = 1;
  std::vector<double> source(static_cast<size_t>(shape.cols));
  for (size_t layer = cross.size(); layer-- > 0;) {
    const Matrix shares = alti_shares(cross[layer], distance);
    const std::vector<double> from_source = times(target, shares, shape.cols);
    for (size_t j = 0; j < source.size(); ++j) source[j] += from_source[j];
    for (int64_t i = 0; i < shape.rows; ++i) {
      target[static_cast<size_t>(i)] *= shares(i, shape.cols);
    }
    const Matrix own = alti_shares(layers.decoder_self[layer], distance);
    target = times(target, own, own.cols());
  }
  return {through(layers.encoder, std::move(source), distance), std::move(target)};
}

}  // namespace fovea
