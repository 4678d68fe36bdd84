#include "fovea/explain/value_zeroing.h"

#include <cmath>
#include <numeric>

#include "fovea/base/error.h"
#include "fovea/base/progress.h"
#include "fovea/tensor/convert.h"

namespace fovea {
namespace {

// The layer's output, [positions, width], under these changes.
Tensor layer_output(Subject& subject, const ValueZeroingStack& stack, int64_t layer,
                    const std::vector<Intervention>& changes) {
  const bool is_last = layer + 1 == stack.layers;
  const SiteId next{stack.kind, static_cast<int>(layer + 1)};
  RecorderOptions record{.values = false, .block = true, .wanted = [&](SiteId site) {
                           return !is_last && site == next;
                         }};
  SubjectOutput output = subject.run(changes, record);
  Tensor states;
  if (is_last) {
    const auto found = output.states.find(stack.kind);
    if (found != output.states.end()) states = found->second;
  } else if (!output.records.empty() && output.records.front()->block) {
    states = output.records.front()->block->input;
  }
  if (states.rank() != 2 || states.size(0) != stack.positions) {
    fail(ErrorKind::kUnsupported,
         "the model does not give the output of layer {} at {} positions; value zeroing compares "
         "those, so use value-norm or rollout",
         layer, stack.positions);
  }
  return convert(states, DType::kF32);
}

// 1 - cos, as half the square of the distance of the directions: equal vectors give 0 exactly.
double turn(const float* a, const float* b, int64_t count) {
  double aa = 0, bb = 0;
  for (int64_t c = 0; c < count; ++c) {
    aa += double{a[c]} * double{a[c]};
    bb += double{b[c]} * double{b[c]};
  }
  if (aa == 0 || bb == 0) return aa == bb ? 0 : 1;
  const double to_a = 1 / std::sqrt(aa), to_b = 1 / std::sqrt(bb);
  double square = 0;
  for (int64_t c = 0; c < count; ++c) {
    const double left = to_a * double{a[c]} - to_b * double{b[c]};
    square += left * left;
  }
  return square / 2;
}

void normalise_rows(Matrix& turns) {
  for (int64_t i = 0; i < turns.rows(); ++i) {
    const std::span<double> row = turns.row(i);
    const double sum = std::accumulate(row.begin(), row.end(), 0.0);
    for (double& value : row) value = sum > 0 ? value / sum : 0;
    if (sum <= 0) row[static_cast<size_t>(i)] = 1;
  }
}

void check_stack(const ValueZeroingStack& stack) {
  if (stack.positions <= kMostValueZeroingPositions) return;
  fail(ErrorKind::kUnsupported,
       "value zeroing runs the model once for each of {} positions in each layer and takes up to "
       "{}; use value-norm or rollout, or a shorter input",
       stack.positions, kMostValueZeroingPositions);
}

Matrix turns_of_layer(Subject& subject, const ValueZeroingStack& stack, int64_t layer,
                      Progress& progress) {
  const Tensor clean = layer_output(subject, stack, layer, {});
  Matrix turns(stack.positions, stack.positions);
  const SiteId site{stack.kind, static_cast<int>(layer)};
  for (int64_t j = 0; j < stack.positions; ++j) {
    const Tensor changed = layer_output(subject, stack, layer, {ZeroValue{site, j}});
    for (int64_t i = 0; i < stack.positions; ++i) {
      turns(i, j) =
          turn(clean.matrix<float>().row(i), changed.matrix<float>().row(i), clean.size(1));
    }
    progress.advance();
  }
  normalise_rows(turns);
  return turns;
}

}  // namespace

Matrix value_zeroing_layer(Subject& subject, const ValueZeroingStack& stack, int64_t layer) {
  check_stack(stack);
  if (layer < 0 || layer >= stack.layers) {
    fail(ErrorKind::kInvalidArgument, "layer {} is asked for but there are 0 to {}", layer,
         stack.layers - 1);
  }
  Progress progress("zeroing values", stack.positions);
  return turns_of_layer(subject, stack, layer, progress);
}

std::vector<double> value_zeroing(Subject& subject, const ValueZeroingStack& stack,
                                  int64_t target) {
  check_stack(stack);
  if (target < 0 || target >= stack.positions) {
    fail(ErrorKind::kInvalidArgument, "there is no position {} among {}; they are 0 to {}", target,
         stack.positions, stack.positions - 1);
  }
  Progress progress("zeroing values", stack.layers * stack.positions);
  std::vector<double> r(static_cast<size_t>(stack.positions));
  r[static_cast<size_t>(target)] = 1;
  for (int64_t layer = stack.layers - 1; layer >= 0; --layer) {
    const Matrix turns = turns_of_layer(subject, stack, layer, progress);
    std::vector<double> before(r.size());
    for (int64_t i = 0; i < stack.positions; ++i) {
      for (size_t j = 0; j < before.size(); ++j) {
        before[j] += r[static_cast<size_t>(i)] * turns.row(i)[j];
      }
    }
    r = std::move(before);
  }
  return r;
}

}  // namespace fovea
