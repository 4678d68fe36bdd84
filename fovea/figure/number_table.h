// A table of numbers with names on both axes, as the steps of attention show them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fovea/attention/matrix.h"
#include "fovea/vision/picture.h"

namespace fovea {

class NumberFormat {
 public:
  // As many decimals as the values need, at most `most`; very large and very small values as
  // 1.2e+06.
  static NumberFormat for_values(std::span<const double> values, int most = 3);
  // Always three decimals, for weights.
  static NumberFormat for_weights() { return {Style::kFixed, 3}; }

  // Writes the value; "·" if it is not finite.
  std::string operator()(double value) const;

 private:
  enum class Style { kFixed, kScientific };
  NumberFormat(Style style, int decimals) : style_(style), decimals_(decimals) {}
  Style style_;
  int decimals_;
};

// A drawn figure shows the values with their labels and colours, and only a part of a large table.
// The formats and the members below shade_to are for text.
struct NumberTable {
  std::string corner;                   // the name, top left
  Matrix values;                        // not finite: shown as ·
  std::vector<std::string> row_labels;  // one per row
  std::vector<std::string> col_labels;  // one per column
  std::vector<NumberFormat> formats;    // one for all columns, or one for each
  std::optional<double> shade_to{};     // colours from 0 to this value, as weights have
  std::vector<Rgb> backgrounds{};       // one per entry; empty: none
  std::vector<double> sums{};           // a last column; empty: none
  bool rest = false;                    // a column before it: the sum of columns not shown
  std::vector<double> bars{};           // behind each row, 0 to 1; empty: none
  std::vector<std::string> notes{};     // text after each row; empty: none
  std::optional<int64_t> kept_row{};    // never left out when rows are
  std::optional<int64_t> marked_row{};  // what was chosen; with marked_col: one [cell]
  std::optional<int64_t> marked_col{};
  bool rule_above_last = false;  // the last row is a total
  int64_t most_rows = 16;

  const NumberFormat& format_of(int64_t col) const {
    return formats.size() == 1 ? formats[0] : formats[static_cast<size_t>(col)];
  }
};

// A table with numbered columns and one format.
NumberTable vector_table(std::string corner, const Matrix& values, std::vector<std::string> labels);
// The table with one of its rows.
NumberTable only_row(const NumberTable& table, int64_t row);

// "0", "1", ... for axes that have no names.
std::vector<std::string> numbered(int64_t count);

// One number by itself, as short as possible: "0.7071", "2", "1e-09".
std::string short_number(double value);

}  // namespace fovea
