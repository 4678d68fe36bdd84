#include "fovea/kernels/attention.h"

#include <benchmark/benchmark.h>

#include "bench/report.h"
#include "support/attention_cases.h"

namespace fovea {
namespace {

struct Work {
  Tensor queries, keys, values, out;
  std::vector<double> lse;
  DType compute = DType::kF32;
  ScoreRule rule;
  AttentionInputs inputs() const {
    return {HeadsView::of(queries), HeadsView::of(keys), HeadsView::of(values), &rule, compute};
  }
};

Work make_work(int64_t tokens, int64_t heads, int64_t dim, bool causal, DType compute) {
  std::mt19937 random(1);
  Work work{support::random_heads(random, {heads, tokens, dim}, 1, DType::kF32),
            support::random_heads(random, {heads, tokens, dim}, 1, DType::kF32),
            support::random_heads(random, {heads, tokens, dim}, 1, DType::kF32),
            Tensor(Shape{heads, tokens, dim}),
            std::vector<double>(static_cast<size_t>(heads * tokens)),
            compute,
            {}};
  work.rule.scale = static_cast<float>(1 / std::sqrt(double(dim)));
  if (causal) work.rule.mask = Mask::causal();
  return work;
}

// The last row of the last head in double.
void check(benchmark::State& state, const Work& work) {
  const AttentionShape shape = work.inputs().shape();
  const int64_t head = shape.heads - 1;
  const int64_t row = shape.rows - 1;
  const std::span<const float> query(work.queries.matrix<float>(head).row(row),
                                     size_t(shape.head_dim));
  double sum = 0;
  double output = 0;
  for (int64_t j = 0; j < shape.cols; ++j) {
    const std::span<const float> key(work.keys.matrix<float>(head).row(j), size_t(shape.head_dim));
    const double weight = std::exp(reference_score(work.rule, shape, head, row, j, query, key));
    sum += weight;
    output += weight * double{work.values.matrix<float>(head)(j, 0)};
  }
  const bool rounds = work.compute == DType::kI16;  // scores by some 1e-4
  require_close(state, work.out.matrix<float>(head)(row, 0), output / sum, rounds ? 1e-3 : 1e-5,
                "attention");
  require_close(state, work.lse.back(), std::log(sum), rounds ? 1e-3 : 1e-5, "log-sum-exp");
}

// Output and LSE; arguments: tokens, heads, head size, causal.
void run(benchmark::State& state, DType compute) {
  const int64_t tokens = state.range(0);
  const int64_t heads = state.range(1);
  const int64_t dim = state.range(2);
  const bool causal = state.range(3) != 0;
  Work work = make_work(tokens, heads, dim, causal, compute);
  const AttentionInputs inputs = work.inputs();
  attention(inputs, MutableHeadsView::of(work.out), work.lse);
  check(state, work);
  for (auto _ : state) attention(inputs, MutableHeadsView::of(work.out), work.lse);
  state.counters["flop"] =
      4.0 * double(heads) * double(tokens) * double(tokens) * double(dim) * (causal ? 0.5 : 1);
  state.SetLabel(
      fmt::format("{} tokens, {} heads, d {}{}", tokens, heads, dim, causal ? ", causal" : ""));
}

void attention_streaming(benchmark::State& state) {
  run(state, DType::kF32);
}
BENCHMARK(attention_streaming)
    ->ArgsProduct({{64, 512, 2048, 3601}, {6}, {32, 64, 128}, {0}})
    ->ArgsProduct({{3601}, {6}, {64}, {1}})
    ->ArgsProduct({{16384}, {1}, {32, 64, 128}, {0, 1}})
    ->UseRealTime();

// Products of 16-bit numbers; on processors without instructions for it the same as f32.
void attention_16_bit(benchmark::State& state) {
  run(state, DType::kI16);
}
BENCHMARK(attention_16_bit)
    ->ArgsProduct({{64, 512, 2048, 3601}, {6}, {64}, {0}})
    ->ArgsProduct({{3601}, {6}, {32, 128}, {0}})
    ->ArgsProduct({{3601}, {6}, {64}, {1}})
    ->ArgsProduct({{16384}, {1}, {64}, {0, 1}})
    ->UseRealTime();

}  // namespace
}  // namespace fovea
