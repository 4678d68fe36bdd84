// How the numbers of one table are written: all alike, so that a column can be read down.
#pragma once

#include <span>
#include <string>

namespace fovea {

class NumberFormat {
 public:
  // With as many decimals as the values need, `most` at most; very large and very small ones as
  // 1.2e+06.
  static NumberFormat for_values(std::span<const double> values, int most = 3);
  // Always three decimals, for weights.
  static NumberFormat for_weights() { return {Style::kFixed, 3}; }

  // "·" for what is no finite number.
  std::string operator()(double value) const;

 private:
  enum class Style { kFixed, kScientific };
  NumberFormat(Style style, int decimals) : style_(style), decimals_(decimals) {}
  Style style_;
  int decimals_;
};

// One number on its own, as short as it can be said: "0.7071", "2", "1e-09".
std::string short_number(double value);

}  // namespace fovea
