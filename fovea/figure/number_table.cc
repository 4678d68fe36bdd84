#include "fovea/figure/number_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace fovea {

NumberTable vector_table(std::string corner, const Matrix& values,
                         std::vector<std::string> labels) {
  return {.corner = std::move(corner),
          .values = values,
          .row_labels = std::move(labels),
          .col_labels = numbered(values.cols()),
          .formats = {NumberFormat::for_values(values.values())}};
}

NumberTable only_row(const NumberTable& table, int64_t row) {
  NumberTable one = table;
  const auto values = table.values.row(row);
  one.values = Matrix::from_rows({{values.begin(), values.end()}});
  one.row_labels = {table.row_labels[static_cast<size_t>(row)]};
  return one;
}

std::vector<std::string> numbered(int64_t count) {
  std::vector<std::string> labels;
  for (int64_t i = 0; i < count; ++i) labels.push_back(std::to_string(i));
  return labels;
}

namespace {

// Decimals after which nothing but rounding noise is left, or `most`.
int decimals_of(double value, int most) {
  double shifted = value;
  for (int decimals = 0; decimals < most; ++decimals, shifted *= 10) {
    if (std::abs(shifted - std::round(shifted)) < 1e-9 * std::max(1.0, std::abs(shifted))) {
      return decimals;
    }
  }
  return most;
}

}  // namespace

NumberFormat NumberFormat::for_values(std::span<const double> values, int most) {
  double largest = 0;
  for (const double value : values) {
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  }
  if (largest >= 1e6 || (largest > 0 && largest < 0.01)) return {Style::kScientific, 1};
  int decimals = 0;
  for (const double value : values) {
    if (std::isfinite(value)) decimals = std::max(decimals, decimals_of(value, most));
  }
  return {Style::kFixed, largest < 1000 ? decimals : std::min(decimals, 1)};
}

std::string NumberFormat::operator()(double value) const {
  if (!std::isfinite(value)) return "·";
  std::string text = style_ == Style::kFixed ? fmt::format("{:.{}f}", value, decimals_)
                                             : fmt::format("{:.{}e}", value, decimals_);
  // A rounded -0.0001 is no negative zero.
  if (text.find_first_not_of("-0.") == std::string::npos && text.front() == '-') text.erase(0, 1);
  return text;
}

std::string short_number(double value) {
  return fmt::format("{:.4g}", value);
}

}  // namespace fovea
