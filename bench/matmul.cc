#include "fovea/kernels/matmul.h"

#include <benchmark/benchmark.h>

#include "bench/report.h"
#include "fovea/kernels/unpack.h"
#include "support/attention_cases.h"
#include "support/stored.h"

namespace fovea {
namespace {

// x [rows, in] times packed weights [out, in]; arguments: rows, in, out, 16-bit.
void matmul_packed(benchmark::State& state) {
  const int64_t rows = state.range(0);
  const int64_t in = state.range(1);
  const int64_t out = state.range(2);
  const DType compute = state.range(3) == 0 ? DType::kF32 : DType::kI16;
  std::mt19937 random(1);
  const Tensor x = support::random_heads(random, {rows, in}, 1, DType::kF32);
  const Tensor weight = support::random_heads(random, {out, in}, 1, DType::kF32);
  const PackedMatrix packed(weight, compute);
  Tensor y = Tensor::uninitialized({rows, out});
  packed.apply(x.matrix<float>(), {}, y.mutable_matrix<float>());
  double expected = 0;
  for (int64_t c = 0; c < in; ++c) {
    expected += double{x.matrix<float>()(rows - 1, c)} * double{weight.matrix<float>()(out - 1, c)};
  }
  // bf16 rounds each factor to 8 bits; terms add up as a random walk.
  const double tolerance = (compute == DType::kF32 ? 1e-5 : 0.02) * std::sqrt(double(in));
  require_close(state, y.matrix<float>()(rows - 1, out - 1), expected, tolerance, "matmul");
  for (auto _ : state) packed.apply(x.matrix<float>(), {}, y.mutable_matrix<float>());
  state.counters["flop"] = 2.0 * double(rows) * double(in) * double(out);
  state.SetLabel(
      fmt::format("{} x {} x {}, {}", rows, in, out, dtype_name(packed.compute_dtype())));
}
// x [rows, in] times weights as GGUF files store them; arguments: rows, in, out, format.
void matmul_stored(benchmark::State& state) {
  const int64_t rows = state.range(0), in = state.range(1), out = state.range(2);
  const auto format = static_cast<StoredFormat>(state.range(3));
  std::mt19937 random(1);
  const Tensor x = support::random_heads(random, {rows, in}, 1, DType::kF32);
  const StoredMatrix weight = support::random_stored(format, out, in, 2);
  const PackedMatrix matrix = PackedMatrix::as_stored(weight);
  Tensor y = Tensor::uninitialized({rows, out});
  matrix.apply(x.matrix<float>(), {}, y.mutable_matrix<float>());
  std::vector<float> row(static_cast<size_t>(in));
  unpack(format, weight.row(out - 1), in, row.data());
  double expected = 0, size = 0;
  for (int64_t c = 0; c < in; ++c) {
    const double term =
        double{x.matrix<float>()(rows - 1, c)} * double{row[static_cast<size_t>(c)]};
    expected += term;
    size += std::abs(term);
  }
  require_close(state, y.matrix<float>()(rows - 1, out - 1), expected, 1e-6 * size, "matmul");
  for (auto _ : state) matrix.apply(x.matrix<float>(), {}, y.mutable_matrix<float>());
  state.counters["flop"] = 2.0 * double(rows) * double(in) * double(out);
  state.SetLabel(fmt::format("{} x {} x {}, {}", rows, in, out, stored_block(format).name));
}

BENCHMARK(matmul_packed)
    ->ArgsProduct({{1, 16, 128, 512, 2048}, {768}, {768, 3072}, {0, 1}})
    ->UseRealTime();
BENCHMARK(matmul_stored)
    ->ArgsProduct({{1, 16, 512},
                   {768},
                   {768, 3072},
                   {int(StoredFormat::kF16), int(StoredFormat::kBF16), int(StoredFormat::kQ4_1),
                    int(StoredFormat::kQ4K), int(StoredFormat::kQ6K)}})
    ->UseRealTime();

}  // namespace
}  // namespace fovea
