#include "fovea/figure/grey_cells.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace fovea {
namespace {

constexpr double kSinkShare = 0.3;  // as the method `sinks` has it
constexpr double kTimesEven = 2;
constexpr size_t kMostNames = 3;

// Of a text of a few words every column takes much: a sink takes more than that.
bool is_sink(MatrixView<const float> weights) {
  double sum = 0, even = 0;
  int64_t rows = 0;
  for (int64_t r = 0; r < weights.rows; ++r) {
    if (std::isnan(weights(r, 0))) continue;
    const int64_t allowed = std::count_if(weights.row(r), weights.row(r) + weights.cols,
                                          [](float weight) { return !std::isnan(weight); });
    sum += double{weights(r, 0)};
    even += 1 / static_cast<double>(allowed);
    ++rows;
  }
  if (2 * rows < weights.rows || rows < 3) return false;
  return sum >= kSinkShare * static_cast<double>(rows) && sum >= kTimesEven * even;
}

bool is_grey(const GreyCells& grey, int64_t column) {
  return std::ranges::binary_search(grey.columns, column);
}

double sum_of(MatrixView<const float> weights, const GreyCells* only) {
  double sum = 0;
  for (int64_t r = 0; r < weights.rows; ++r) {
    for (int64_t c = 0; c < weights.cols; ++c) {
      const bool counts = only == nullptr || is_grey(*only, c);
      if (counts && !std::isnan(weights(r, c))) sum += double{weights(r, c)};
    }
  }
  return sum;
}

}  // namespace

GreyCells grey_cells(const Tensor& weights, const Axis& cols, bool first_here) {
  const auto view = weights.matrix<float>();
  GreyCells grey;
  for (int64_t c = 0; c < view.cols; ++c) {
    const bool special = cols.positions[static_cast<size_t>(c)].special;
    if (special || (c == 0 && first_here && is_sink(view))) grey.columns.push_back(c);
  }
  if (std::ssize(grey.columns) == view.cols) return {};
  const double all = sum_of(view, nullptr);
  if (all > 0) grey.share = sum_of(view, &grey) / all;
  return grey;
}

void append_colored(const Tensor& weights, const GreyCells& grey, std::vector<float>& values) {
  const auto view = weights.matrix<float>();
  for (int64_t r = 0; r < view.rows; ++r) {
    for (int64_t c = 0; c < view.cols; ++c) {
      if (!is_grey(grey, c)) values.push_back(view(r, c));
    }
  }
}

std::string grey_names(const Axis& cols, const std::vector<int64_t>& columns) {
  std::vector<std::string> names;
  bool all_special = true;
  for (const int64_t column : columns) {
    const Position& position = cols.positions[static_cast<size_t>(column)];
    all_special = all_special && position.special;
    const std::string name = position.special ? position.text : fmt::format("token {}", column);
    if (std::ranges::count(names, name) == 0) names.push_back(name);
  }
  if (names.size() <= kMostNames) return fmt::format("{}", fmt::join(names, ", "));
  return all_special ? "special tokens" : "special tokens and the first";
}

std::string grey_cells_note(const std::string& names, const std::vector<double>& shares) {
  std::vector<double> some = shares;
  std::erase_if(some, [](double share) { return !(share > 0); });
  if (some.empty()) return "";
  const auto [low, high] = std::ranges::minmax(some);
  const std::string least = fmt::format("{:.0f}", 100 * low);
  const std::string most = fmt::format("{:.0f}", 100 * high);
  return fmt::format(" · grey: {}, with {} % of all weight, on a scale of their own", names,
                     least == most ? least : least + " to " + most);
}

}  // namespace fovea
