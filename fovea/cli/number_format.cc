#include "fovea/cli/number_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace fovea {
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
