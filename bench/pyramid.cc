#include "fovea/atlas/pyramid.h"

#include <benchmark/benchmark.h>

#include "bench/report.h"
#include "support/records.h"

namespace fovea {
namespace {

// The top tile of a fresh pyramid: maximum and sum over every cell of the map; arguments: tokens,
// causal.
void pyramid_overview(benchmark::State& state) {
  const int64_t tokens = state.range(0);
  const bool causal = state.range(1) != 0;
  const AttentionMap map(testing::shared_record_of(testing::plain_case(tokens, 64, causal, 1)), 0);
  const auto overview = [&] {
    const Pyramid pyramid(map, std::make_shared<TileCache>(size_t{256} << 20));
    return pyramid.tile(pyramid.levels() - 1, 0, 0);
  };
  double total = 0;
  const auto top = overview();
  for (const float sum : top->sum.values<float>()) total += double{sum};
  require_close(state, total, double(tokens), 1e-5 * double(tokens), "all cells together");
  for (auto _ : state) benchmark::DoNotOptimize(overview());
  state.counters["flop"] = 2.0 * double(tokens) * double(tokens) * 64 * (causal ? 0.5 : 1);
  state.SetLabel(fmt::format("{} tokens, d 64{}", tokens, causal ? ", causal" : ""));
}
BENCHMARK(pyramid_overview)->ArgsProduct({{4096, 16384}, {0, 1}})->UseRealTime();

}  // namespace
}  // namespace fovea
