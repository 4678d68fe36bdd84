// Numbers that tell kinds of heads apart, computed from sums over rows, and the names of these
// kinds.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace fovea {

// Offsets j - i of a row's largest weight are counted one by one up to here, in both directions.
inline constexpr int64_t kFarthestOffset = 16;

// Sums over rows. The sums of two corpora can be added. A number that does not apply to an input
// (offsets between patches, say) adds nothing, and its count adds nothing.
struct HeadSums {
  double rows = 0;           // rows that see a key
  double entropy = 0;        // in nats
  double open_rows = 0;      // rows that see two keys or more
  double evenness = 0;       // entropy / log(keys seen) of open_rows
  double plain_rows = 0;     // rows that are no special token
  double confidence = 0;     // of plain_rows: the largest weight outside of special tokens
  double distance_rows = 0;  // rows whose distances are known
  double distance =
      0;  // sum_j A(i, j) |i - j|; of patches as explain/pictures/attention_distance.h
  double delimiter_total = 0;  // weight of the cells whose delimiters are known
  double delimiter = 0;        // of this: on special tokens and punctuation
  double pattern_total = 0;    // weight of the cells between tokens of one text
  double previous = 0;         // of this: on j = i - 1
  double duplicate = 0;        // likewise: on earlier tokens equal to i
  double induction = 0;        // likewise: on tokens after an earlier one equal to i
  double later_rows = 0;       // rows i >= 1 that see position 0
  double first = 0;            // their weight on it
  double repeats = 0;          // rows whose next token occurred before
  double retrieved = 0;        // of repeats: the largest weight is where it occurred
  double placed_rows = 0;      // rows of a text, where offsets mean something
  double answers = 0;          // inputs whose answer's gradient was taken
  double importance = 0;       // sum of explain/head_importance.h over answers
  // How many of placed_rows have their largest weight at each offset.
  std::array<double, 2 * kFarthestOffset + 1> at_offset{};

  void add(const HeadSums& other);
};

// All members in the order of files; at_offset comes after them.
std::span<double HeadSums::*const> head_sum_members();

// The means that people read; NaN if nothing was counted.
struct HeadNumbers {
  double entropy = 0;
  double evenness = 0;    // 0: one key, 1: all alike
  double confidence = 0;  // Voita et al. 2019, arXiv:1905.09418, special tokens left out
  double distance = 0;
  double previous = 0;  // shares of the map's weight, as TransformerLens scores patterns
  double duplicate = 0;
  double induction = 0;
  double delimiter = 0;
  double sink = 0;        // mean weight of later rows on position 0 (Gu et al. 2025)
  double retrieval = 0;   // share of repeats (Wu et al. 2024's score, on the text as it stands)
  double positional = 0;  // share of rows whose maximum lies at one and the same offset
  int64_t offset = 0;     // that offset
  double importance = 0;  // mean over inputs (Michel et al. 2019, arXiv:1905.10650)
};
HeadNumbers numbers_of(const HeadSums& sums);

// What an attention must have for a number to be counted.
enum class MetricNeeds {
  kRows,          // nothing more
  kDistances,     // rows and columns are one text or one picture
  kDelimiters,    // columns are a text, or patches behind special tokens
  kFirst,         // rows and columns are a text, or patches behind special tokens
  kTokens,        // rows and columns are one text
  kCausalTokens,  // the same, and a row sees only what is before it
  kAnswer,        // a model that answers, so that the answer has a gradient
};

// The numbers by name, in the order in which tables show them.
struct HeadMetric {
  std::string_view name;
  double HeadNumbers::*number;
  std::string_view help;
  MetricNeeds needs;
};
std::span<const HeadMetric> head_metrics();

// Kinds of heads: the first that fits gives the name.
struct HeadType {
  std::string_view name;
  std::string_view rule;  // in words
  bool (*fits)(const HeadNumbers&);
};
std::span<const HeadType> head_types();

// The name of the first type that fits, or "mixed". A positional head also gets its offset:
// "positional +2".
std::string head_type(const HeadNumbers& numbers);

}  // namespace fovea
