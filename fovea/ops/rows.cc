#include "fovea/ops/rows.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fovea/ops/check.h"

namespace fovea::ops {
namespace {

Tensor taken(const Tensor& x, std::span<const int64_t> numbers) {
  Tensor out = Tensor::uninitialized({static_cast<int64_t>(numbers.size()), x.size(1)});
  for (size_t i = 0; i < numbers.size(); ++i) {
    std::copy_n(x.matrix<float>().row(numbers[i]), x.size(1),
                out.mutable_matrix<float>().row(static_cast<int64_t>(i)));
  }
  return out;
}

void add_at(const Tensor& rows, std::span<const int64_t> numbers, Tensor& to) {
  for (size_t i = 0; i < numbers.size(); ++i) {
    const float* from = rows.matrix<float>().row(static_cast<int64_t>(i));
    float* row = to.mutable_matrix<float>().row(numbers[i]);
    for (int64_t c = 0; c < to.size(1); ++c) row[c] += from[c];
  }
}

// The weights of all columns of a row, of which `chosen` alone count if that is not empty.
std::vector<double> softmax_of(const float* row, int64_t width, std::span<const int64_t> chosen) {
  std::vector<double> weights(static_cast<size_t>(width), 0.0);
  const auto each = [&](const auto& use) {
    if (chosen.empty()) {
      for (int64_t c = 0; c < width; ++c) use(c);
    } else {
      for (const int64_t c : chosen) use(c);
    }
  };
  double largest = -std::numeric_limits<double>::infinity(), sum = 0;
  each([&](int64_t c) { largest = std::max(largest, double{row[c]}); });
  each([&](int64_t c) {
    weights[static_cast<size_t>(c)] = std::exp(double{row[c]} - largest);
    sum += weights[static_cast<size_t>(c)];
  });
  for (double& weight : weights) weight /= sum;
  return weights;
}

}  // namespace

Value take_rows(const Value& x, std::span<const int64_t> numbers) {
  require_f32("take_rows", x);
  for ([[maybe_unused]] const int64_t number : numbers)
    FOVEA_ASSERT(number >= 0 && number < x.shape()[0]);
  Tensor out = taken(x.tensor, numbers);
  if (!x.watched()) return out;
  return x.tape->record(
      std::move(out), {x.node},
      [shape = x.shape(), kept = std::vector<int64_t>(numbers.begin(), numbers.end())](
          const Tensor& gradient, InputGradients& inputs) {
        Tensor sum(shape);
        add_at(gradient, kept, sum);
        inputs.add(0, std::move(sum));
      });
}

Value scale_rows(const Value& x, const Value& factors) {
  require_f32("scale_rows", x);
  require_f32("scale_rows", factors);
  const int64_t rows = x.shape()[0], width = x.shape()[1];
  FOVEA_ASSERT(factors.shape().elements() == rows);
  const auto scaled = [rows, width](const Tensor& of, const Tensor& by) {
    Tensor out = Tensor::uninitialized(of.shape());
    for (int64_t r = 0; r < rows; ++r) {
      const float factor = by.values<float>()[static_cast<size_t>(r)];
      const float* from = of.matrix<float>().row(r);
      std::transform(from, from + width, out.mutable_matrix<float>().row(r),
                     [factor](float value) { return value * factor; });
    }
    return out;
  };
  Tensor out = scaled(x.tensor, factors.tensor);
  Tape* tape = common_tape({&x, &factors});
  if (tape == nullptr) return out;
  return tape->record(
      std::move(out), {x.node, factors.node},
      [scaled, rows, width, kept = x.tensor, by = factors.tensor](const Tensor& gradient,
                                                                  InputGradients& inputs) {
        if (inputs.wanted(0)) inputs.add(0, scaled(gradient, by));
        if (!inputs.wanted(1)) return;
        Tensor sums = Tensor::uninitialized(by.shape());
        for (int64_t r = 0; r < rows; ++r) {
          const float *a = gradient.matrix<float>().row(r), *b = kept.matrix<float>().row(r);
          double sum = 0;
          for (int64_t c = 0; c < width; ++c) sum += double{a[c]} * double{b[c]};
          sums.mutable_values<float>()[static_cast<size_t>(r)] = static_cast<float>(sum);
        }
        inputs.add(1, std::move(sums));
      });
}

Value sum_rows(std::span<const PlacedRows> parts, int64_t rows, int64_t width) {
  Tensor sum({rows, width});
  std::vector<int> nodes;
  std::vector<Value> values;
  std::vector<std::vector<int64_t>> places;
  for (const PlacedRows& part : parts) {
    require_f32("sum_rows", part.rows);
    add_at(part.rows.tensor, part.numbers, sum);
    nodes.push_back(part.rows.node);
    values.push_back(part.rows);
    places.push_back(part.numbers);
  }
  Tape* tape = common_tape(values);
  if (tape == nullptr) return sum;
  return tape->record(std::move(sum), std::move(nodes),
                      [places = std::move(places)](const Tensor& gradient, InputGradients& inputs) {
                        for (size_t i = 0; i < places.size(); ++i) {
                          if (inputs.wanted(i)) inputs.add(i, taken(gradient, places[i]));
                        }
                      });
}

Value chosen_softmax(const Value& x, std::span<const int64_t> columns, SoftmaxOver over) {
  require_f32("chosen_softmax", x);
  const int64_t rows = x.shape()[0], width = x.shape()[1];
  const auto count = static_cast<int64_t>(columns.size()) / std::max<int64_t>(rows, 1);
  const auto chosen_of = [count](std::span<const int64_t> all, int64_t row) {
    return all.subspan(static_cast<size_t>(row * count), static_cast<size_t>(count));
  };
  Tensor out = Tensor::uninitialized({static_cast<int64_t>(columns.size()), 1});
  for (int64_t row = 0; row < rows; ++row) {
    const auto chosen = chosen_of(columns, row);
    const std::vector<double> weights =
        softmax_of(x.tensor.matrix<float>().row(row), width,
                   over == SoftmaxOver::kChosen ? chosen : std::span<const int64_t>());
    for (size_t i = 0; i < chosen.size(); ++i) {
      out.mutable_values<float>()[static_cast<size_t>(row * count) + i] =
          static_cast<float>(weights[static_cast<size_t>(chosen[i])]);
    }
  }
  if (!x.watched()) return out;
  // d w_c / d x_e = w_c ([c = e] - w_e)
  return x.tape->record(
      std::move(out), {x.node},
      [chosen_of, width, over, kept = x.tensor,
       all = std::vector<int64_t>(columns.begin(), columns.end())](const Tensor& gradient,
                                                                   InputGradients& inputs) {
        Tensor result(kept.shape());
        for (int64_t row = 0; row < kept.size(0); ++row) {
          const auto chosen = chosen_of(all, row);
          const std::vector<double> weights =
              softmax_of(kept.matrix<float>().row(row), width,
                         over == SoftmaxOver::kChosen ? chosen : std::span<const int64_t>());
          float* to = result.mutable_matrix<float>().row(row);
          double mean = 0;
          for (size_t i = 0; i < chosen.size(); ++i) {
            const double of =
                weights[static_cast<size_t>(chosen[i])] *
                double{gradient.values<float>()[static_cast<size_t>(row) * chosen.size() + i]};
            mean += of;
            to[chosen[i]] += static_cast<float>(of);
          }
          for (int64_t c = 0; c < width; ++c) {
            to[c] -= static_cast<float>(mean * weights[static_cast<size_t>(c)]);
          }
        }
        inputs.add(0, std::move(result));
      });
}

}  // namespace fovea::ops
