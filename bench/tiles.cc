#include <benchmark/benchmark.h>

#include "bench/report.h"
#include "fovea/atlas/attention_map.h"
#include "support/records.h"

namespace fovea {
namespace {

// One cell in double.
void check_cell(benchmark::State& state, const AttentionMap& map, int64_t row, int64_t col,
                float found) {
  const AttentionRecord& record = map.record();
  const AttentionShape shape = record.shape();
  const auto key_of = [&](int64_t j) {
    return std::span<const float>(record.keys.matrix<float>(0).row(j), size_t(shape.head_dim));
  };
  const std::span<const float> query(record.queries.matrix<float>(0).row(row),
                                     size_t(shape.head_dim));
  double sum = 0;
  for (int64_t j = 0; j < shape.cols; ++j) {
    sum += std::exp(reference_score(record.rule, shape, 0, row, j, query, key_of(j)));
  }
  const double weight =
      std::exp(reference_score(record.rule, shape, 0, row, col, query, key_of(col))) / sum;
  require_close(state, found, weight, 1e-6, "weight");
}

// An exact tile; arguments: side, head size. 16,384 tokens.
void tile_exact(benchmark::State& state) {
  const int64_t side = state.range(0);
  const int64_t dim = state.range(1);
  const AttentionMap map(support::shared_record_of(support::plain_case(16384, dim, false, 1)), 0);
  Tensor tile({side, side});
  const Region region{4096, 4096 + side, 8192, 8192 + side};
  map.tile(region, tile.mutable_matrix<float>());
  check_cell(state, map, 4096, 8192, tile.values<float>()[0]);
  for (auto _ : state) map.tile(region, tile.mutable_matrix<float>());
  state.counters["flop"] = 2.0 * double(side) * double(side) * double(dim);
  state.SetLabel(fmt::format("{} x {}, d {}", side, side, dim));
}
BENCHMARK(tile_exact)->ArgsProduct({{64, 256, 512}, {32, 64, 128}})->UseRealTime();

// What every column receives; arguments: tokens, head size, causal.
void column_sums(benchmark::State& state) {
  const int64_t tokens = state.range(0);
  const int64_t dim = state.range(1);
  const bool causal = state.range(2) != 0;
  const AttentionMap map(support::shared_record_of(support::plain_case(tokens, dim, causal, 1)), 0);
  const auto sums = map.column_sums();
  double total = 0;
  for (const double sum : sums) total += sum;
  require_close(state, total, double(tokens), 1e-6 * double(tokens), "all columns together");
  for (auto _ : state) benchmark::DoNotOptimize(map.column_sums());
  state.counters["flop"] = 2.0 * double(tokens) * double(tokens) * double(dim) * (causal ? 0.5 : 1);
  state.SetLabel(fmt::format("{} tokens, d {}{}", tokens, dim, causal ? ", causal" : ""));
}
BENCHMARK(column_sums)->Args({4096, 64, 0})->Args({16384, 64, 1})->UseRealTime();

void row_entropy(benchmark::State& state) {
  const int64_t tokens = state.range(0);
  const AttentionMap map(support::shared_record_of(support::plain_case(tokens, 64, true, 1)), 0);
  require_close(state, map.entropy()[0], 0, 1e-6, "entropy of a row that sees one key");
  for (auto _ : state) benchmark::DoNotOptimize(map.entropy());
  state.counters["flop"] = double(tokens) * double(tokens) * 64;
  state.SetLabel(fmt::format("{} tokens, d 64, causal", tokens));
}
BENCHMARK(row_entropy)->Arg(16384)->UseRealTime();

}  // namespace
}  // namespace fovea
