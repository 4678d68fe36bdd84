// Works of single kernels and of one map.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "bench/turns/turn.h"
#include "fovea/atlas/pyramid.h"
#include "fovea/kernels/matmul.h"
#include "support/records.h"

namespace fovea {
namespace {

// Numbers of variance 1 that the other side can make too: a hash of the index, spread evenly.
Tensor hashed_heads(Shape shape, uint64_t seed, DType dtype) {
  Tensor tensor(std::move(shape));
  uint64_t index = seed * 100000007U;
  for (float& value : tensor.mutable_values<float>()) {
    uint64_t hash = index++ * 2654435761U & 0xffffffffU;
    hash = (hash ^ hash >> 16) * 0x45d9f3bU & 0xffffffffU;
    hash ^= hash >> 16;
    value = static_cast<float>((double(hash) / 4294967296.0 - 0.5) * std::sqrt(12.0));
  }
  return convert(tensor, dtype);
}

// Keys come again every so often: the log-sum-exp over all of them follows from that over the first
// ones, and at 100,000 tokens getting ready takes a hundredth of the time.
constexpr int64_t kPeriod = 1000;

AttentionMap random_map(const std::string& tokens, const std::string& dim) {
  const int64_t rows = std::stoll(tokens);
  const int64_t width = std::stoll(dim);
  const int64_t times = rows % kPeriod == 0 ? rows / kPeriod : 1;
  support::AttentionCase c = support::plain_case(rows, width, /*causal=*/false, 1);
  const auto first_ones = [&](const Tensor& tensor) {
    const Shape shape{1, rows / times, width};
    return Tensor::from(shape, tensor.values<float>().first(static_cast<size_t>(shape.elements())));
  };
  c.shape.cols = rows / times;
  c.keys = first_ones(c.keys);
  c.values = first_ones(c.values);
  AttentionRecord record = support::record_of(c);
  record.keys = Tensor({1, rows, width});
  auto to = record.keys.mutable_values<float>().begin();
  for (int64_t i = 0; i < times; ++i) to = std::ranges::copy(c.keys.values<float>(), to).out;
  record.values = Tensor();
  for (double& lse : record.lse.mutable_values<double>()) lse += std::log(double(times));
  return {std::make_shared<const AttentionRecord>(std::move(record)), 0};
}

Json timed(double seconds, double flop) {
  Json answer = Json::object();
  answer.set("seconds", seconds);
  answer.set("flop", flop);
  return answer;
}

}  // namespace

// Output and LSE of every row.
Turn attention_turn(Words words) {
  const int64_t tokens = std::stoll(words[0]);
  const int64_t heads = std::stoll(words[1]);
  const int64_t dim = std::stoll(words[2]);
  const bool rounds = words[3] == "bf16";
  const DType dtype = rounds ? DType::kBF16 : DType::kF32;
  const Shape shape{heads, tokens, dim};
  // As a layer has them: in f32, though of such numbers as the other side has.
  const auto heads_of = [=](uint64_t seed) {
    return convert(hashed_heads(shape, seed, dtype), DType::kF32);
  };
  return [=, queries = heads_of(1), keys = heads_of(2), values = heads_of(3)] {
    ScoreRule rule;
    rule.scale = static_cast<float>(1 / std::sqrt(double(dim)));
    const AttentionInputs inputs{HeadsView::of(queries), HeadsView::of(keys), HeadsView::of(values),
                                 &rule, rounds ? DType::kI16 : DType::kF32};
    Tensor out(Shape{heads, tokens, dim});
    std::vector<double> lse(static_cast<size_t>(heads * tokens));
    Json answer = timed(mean_seconds_of([&] { attention(inputs, MutableHeadsView::of(out), lse); }),
                        4.0 * double(heads) * double(tokens) * double(tokens) * double(dim));
    answer.set("answer", Json::array_of(out.values<float>().last(8)));
    return answer;
  };
}

// What the machine can do at most.
Turn matmul_turn(Words words) {
  const int64_t rows = std::stoll(words[0]);
  const int64_t in = std::stoll(words[1]);
  const int64_t out = std::stoll(words[2]);
  return [=, x = hashed_heads({rows, in}, 1, DType::kF32),
          packed = PackedMatrix(hashed_heads({out, in}, 2, DType::kF32), DType::kF32)] {
    Tensor y = Tensor::uninitialized({rows, out});
    return timed(
        mean_seconds_of([&] { packed.apply(x.matrix<float>(), {}, y.mutable_matrix<float>()); }),
        2.0 * double(rows) * double(in) * double(out));
  };
}

// One exact tile in the middle of a map.
Turn tile_turn(Words words) {
  const int64_t side = std::stoll(words[1]);
  return [side, map = random_map(words[0], words[2])] {
    Tensor tile({side, side});
    const int64_t row = map.rows() / 4;
    const int64_t col = map.cols() / 2;
    const Region region{row, row + side, col, col + side};
    return timed(mean_seconds_of([&] { map.tile(region, tile.mutable_matrix<float>()); }),
                 2.0 * double(side) * double(side) * double(map.record().shape().head_dim));
  };
}

// The first look at the top of a fresh pyramid, and the top itself: maximum and sum over every
// cell.
Turn overview_turn(Words words) {
  return [map = random_map(words[0], words[1])] {
    const Pyramid pyramid(map, std::make_shared<TileCache>(size_t{256} << 20));
    const int top = pyramid.levels() - 1;
    const auto row_sum = [&](const Tensor& sums) {  // 1, of the first look about
      const auto values = sums.values<float>();
      return std::accumulate(values.begin(), values.end(), 0.0) / double(map.rows());
    };
    PyramidTile look;
    const double first = seconds_of([&] { look = pyramid.first_look(top, 0, 0); });
    std::shared_ptr<const PyramidTile> tile;
    const double exact = seconds_of([&] { tile = pyramid.tile(top, 0, 0); });
    Json answer = timed(exact, 2.0 * double(map.rows()) * double(map.cols()) *
                                   double(map.record().shape().head_dim));
    answer.set("first_seconds", first);
    answer.set("row_sum", row_sum(tile->sum));
    answer.set("first_row_sum", row_sum(look.sum));
    return answer;
  };
}

}  // namespace fovea
