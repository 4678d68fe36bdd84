// How much of the colours the maps of a captured run use, and what an overview costs.
//
//   fovea-maps RUN
//
// For every head of every layer of self-attention: the entropy, in bits, of a histogram of 32
// colour steps over all bins that the mask allows; 5 is the most. As times even from a 32nd to 32
// times, sinks apart (what figures draw), and as weights, linear to the largest, which it stands
// beside. Then the time of one head's overview, in the time of its exact weights tile by tile.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <vector>

#include "fovea/atlas/attention_map.h"
#include "fovea/atlas/map_survey.h"
#include "fovea/base/error.h"
#include "fovea/capture/run_file.h"
#include "fovea/figure/color_axis.h"
#include "fovea/figure/view.h"
#include "fovea/figure/view_frame.h"

namespace fovea {
namespace {

double color_bits(const MatrixFigure& figure) {
  constexpr size_t kSteps = 32;
  std::vector<double> counts(kSteps);
  double all = 0;
  for (const float value : figure.weights.values<float>()) {
    if (std::isnan(value)) continue;
    const double place = std::clamp(place_on(figure.scale, double{value}), 0.0, 1.0);
    ++counts[std::min(static_cast<size_t>(place * kSteps), kSteps - 1)];
    ++all;
  }
  double bits = 0;
  for (const double count : counts) {
    if (count > 0) bits -= count / all * std::log2(count / all);
  }
  return bits;
}

void print_quantiles(std::string_view name, std::vector<double> values) {
  std::ranges::sort(values);
  const auto at = [&](double share) {
    const double place = share * static_cast<double>(values.size() - 1);
    const auto before = static_cast<size_t>(place), after = std::min(before + 1, values.size() - 1);
    return std::lerp(values[before], values[after], place - static_cast<double>(before));
  };
  fmt::print("{:30} 10 % of heads below {:.3f}, median {:.3f}, 90 % below {:.3f} bits\n", name,
             at(0.1), at(0.5), at(0.9));
}

double seconds_of(const auto& work) {
  double best = 1e9;
  for (int turn = 0; turn < 5; ++turn) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
    best = std::min(best, time.count());
  }
  return best;
}

// Strips as merged maps take them, no further than their rows may see.
void all_weights(const AttentionMap& map) {
  constexpr int64_t kStrip = 256;
  for (int64_t row = 0; row < map.rows(); row += kStrip) {
    const int64_t end = std::min(row + kStrip, map.rows());
    map.tile({row, end, 0, map.record().rule.mask.key_range(end - 1, map.cols()).end});
  }
}

void measure_run(const char* path) {
  const Run run = load_run(path);
  std::vector<double> even, linear;
  int64_t bins = 0;
  for (const RecordPointer& record : records_of(run, SiteKind::kSelf)) {
    for (int64_t head = 0; head < record->shape().heads; ++head) {
      ViewChoice choice{.kind = SiteKind::kSelf,
                        .layer = record->site.layer,
                        .head = {HeadChoice::Kind::kOne, head}};
      const MatrixFigure figure = matrix_view(run, choice);
      bins = figure.weights.size(0);
      even.push_back(color_bits(figure));
      choice.of = MapValue::kWeight;
      choice.curve = ScaleCurve::kLinear;
      choice.largest = true;
      linear.push_back(color_bits(matrix_view(run, choice)));
    }
  }
  const RecordPointer record = records_of(run, SiteKind::kSelf).front();
  const int64_t tokens = record->shape().rows, block = (tokens + 511) / 512;
  fmt::print("{} tokens, {} bins a side, {} heads; entropy of 32 colour steps\n", tokens, bins,
             even.size());
  print_quantiles("times even, log, 1/32 to 32", even);
  print_quantiles("largest weight, linear", linear);
  const AttentionMap map(record, 0);
  const double exact = seconds_of([&] { all_weights(map); });
  const double survey = seconds_of([&] { survey_map(record, 0, block); });
  fmt::print("one head: exact weights {:.3f} s, overview {:.3f} s, {:.2f} times\n", exact, survey,
             survey / exact);
}

}  // namespace
}  // namespace fovea

int main(int count, char** words) {
  if (count != 2) {
    fmt::print(stderr, "usage: fovea-maps RUN.fovea.safetensors\n");
    return 2;
  }
  try {
    fovea::measure_run(words[1]);
  } catch (const fovea::Error& error) {
    fmt::print(stderr, "fovea-maps: {}\n", error.what());
    return 1;
  }
  return 0;
}
