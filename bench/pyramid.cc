#include "fovea/atlas/pyramid.h"

#include <benchmark/benchmark.h>

#include <cmath>

#include "bench/report.h"
#include "support/records.h"

namespace fovea {
namespace {

constexpr int64_t kPeriod = 1000;

double dot(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += double{a[i]} * double{b[i]};
  return sum;
}

// Queries and keys that repeat, so that the LSE of a map of any length follows from one period.
std::shared_ptr<const AttentionRecord> periodic_record(int64_t tokens, bool causal) {
  constexpr int64_t kDim = 64;
  const support::AttentionCase period = support::plain_case(kPeriod, kDim, causal, 1);
  auto record = std::make_shared<AttentionRecord>();
  record->rule = period.rule;
  record->queries = Tensor::uninitialized({1, tokens, kDim});
  record->keys = Tensor::uninitialized({1, tokens, kDim});
  record->lse = Tensor(Shape{1, tokens}, DType::kF64);
  for (int64_t u = 0; u < std::min(kPeriod, tokens); ++u) {
    const auto row_of = [&](const Tensor& heads, int64_t row) {
      return std::span(heads.matrix<float>(0).row(row), size_t{kDim});
    };
    const auto query = row_of(period.queries, u);
    double whole = 0;
    double so_far = 0;  // keys up to the query's own place
    for (int64_t v = 0; v < kPeriod; ++v) {
      whole += std::exp(double{period.rule.scale} * dot(query, row_of(period.keys, v)));
      if (v == u) so_far = whole;
    }
    for (int64_t i = u; i < tokens; i += kPeriod) {
      std::ranges::copy(query, record->queries.mutable_matrix<float>(0).row(i));
      std::ranges::copy(row_of(period.keys, u), record->keys.mutable_matrix<float>(0).row(i));
      const auto periods = double(causal ? i / kPeriod : tokens / kPeriod);
      record->lse.mutable_values<double>()[size_t(i)] =
          std::log(periods * whole + (causal ? so_far : 0));
    }
  }
  return record;
}

double total_of(const Tensor& sums) {
  double total = 0;
  for (const float sum : sums.values<float>()) total += double{sum};
  return total;
}

// The top tile of a fresh pyramid: maximum and sum over every cell of the map; arguments: tokens (a
// multiple of the period), causal.
void pyramid_overview(benchmark::State& state) {
  const int64_t tokens = state.range(0);
  const bool causal = state.range(1) != 0;
  const AttentionMap map(periodic_record(tokens, causal), 0);
  std::shared_ptr<const PyramidTile> top;
  for (auto _ : state) {
    const Pyramid pyramid(map, std::make_shared<TileCache>(size_t{256} << 20));
    top = pyramid.tile(pyramid.levels() - 1, 0, 0);
  }
  require_close(state, total_of(top->sum), double(tokens), 1e-5 * double(tokens),
                "all cells together");
  state.counters["flop"] = 2.0 * double(tokens) * double(tokens) * 64 * (causal ? 0.5 : 1);
  state.SetLabel(fmt::format("{} tokens, d 64{}", tokens, causal ? ", causal" : ""));
}
BENCHMARK(pyramid_overview)->ArgsProduct({{4000, 16000}, {0, 1}})->UseRealTime();
// Several seconds each, so once must do.
BENCHMARK(pyramid_overview)
    ->ArgsProduct({{100000}, {0, 1}})
    ->Repetitions(1)
    ->Iterations(1)
    ->UseRealTime();

// The same from a few rows of each cell.
void pyramid_first_look(benchmark::State& state) {
  const int64_t tokens = state.range(0);
  const bool causal = state.range(1) != 0;
  const AttentionMap map(periodic_record(tokens, causal), 0);
  const Pyramid pyramid(map, std::make_shared<TileCache>(0));
  PyramidTile top;
  for (auto _ : state) top = pyramid.first_look(pyramid.levels() - 1, 0, 0);
  // Every row sums to 1, so even the estimates do.
  require_close(state, total_of(top.sum), double(tokens), 1e-5 * double(tokens),
                "all cells together");
  state.SetLabel(fmt::format("{} tokens, d 64{}", tokens, causal ? ", causal" : ""));
}
BENCHMARK(pyramid_first_look)->ArgsProduct({{16000, 100000}, {0, 1}})->UseRealTime();

}  // namespace
}  // namespace fovea
