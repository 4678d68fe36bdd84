// What kind of head it is: numbers about its map, averaged over the rows of many inputs. Every map
// is read once, block by block, and nothing of it is kept.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/base/cancel.h"
#include "fovea/base/json.h"
#include "fovea/capture/run.h"
#include "fovea/explain/picture_axis.h"

namespace fovea {

// What is to be known of the positions, one entry each.
struct PositionKinds {
  std::vector<int64_t> ids;        // equal tokens have equal ids; empty: no tokens, as in pictures
  std::vector<uint8_t> special;    // [CLS], [SEP], padding
  std::vector<uint8_t> delimiter;  // special tokens and punctuation
  // Patches on a grid: distances are Euclidean, in patches, and patterns of tokens do not count.
  std::optional<PictureAxis> picture;
};

// Offsets j - i of a row's largest weight that are counted one by one; others count together.
inline constexpr int64_t kFarthestOffset = 16;

// Sums over rows; those of two corpora add up.
struct HeadSums {
  double rows = 0;        // that see a key
  double entropy = 0;     // in nats
  double open_rows = 0;   // that see two keys or more
  double evenness = 0;    // entropy / log(keys seen) of these
  double plain_rows = 0;  // of no special token
  double confidence = 0;  // their largest weight on what is no special token
  double distance = 0;    // sum_j A(i, j) |i - j|
  double weight = 0;      // of all cells: what patterns are a share of
  double previous = 0;    // on j = i - 1
  double duplicate = 0;   // on earlier tokens equal to i
  double induction = 0;   // on tokens after an earlier one equal to i
  double delimiter = 0;
  double first = 0;       // on position 0
  double later_rows = 0;  // i >= 1 that see position 0
  double repeats = 0;     // rows whose next token occurred before
  double retrieved = 0;   // of these: the largest weight lies on such an occurrence
  std::array<double, 2 * kFarthestOffset + 1> at_offset{};  // rows by the place of their maximum

  void add(const HeadSums& other);
};

// The means that people read.
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
};
HeadNumbers numbers_of(const HeadSums& sums);

// The numbers by name, in the order in which tables show them.
struct HeadMetric {
  std::string_view name;
  double HeadNumbers::*number;
  std::string_view help;
};
std::span<const HeadMetric> head_metrics();

// "previous token", "positional +1", "induction", "delimiter", "sink", "broad", ...; "mixed" where
// no number stands out. The limits stand in the file.
std::string head_type(const HeadNumbers& numbers);

// For one kind of site, layers x heads.
class CorpusStatistics {
 public:
  // Adds all heads of one self-attention. Throws Error{kInvalidArgument} unless rows and columns
  // are the positions of `kinds`, or a layer has another number of heads than before.
  void add(const AttentionRecord& record, const PositionKinds& kinds,
           const CancelToken& cancel = {});
  // One input is through.
  void end_input() { ++inputs_; }

  int64_t inputs() const { return inputs_; }
  int64_t layers() const { return static_cast<int64_t>(sums_.size()); }
  int64_t heads() const { return sums_.empty() ? 0 : static_cast<int64_t>(sums_.front().size()); }
  const HeadSums& sums(int64_t layer, int64_t head) const;

  // Sums as they are, so that an interrupted count can go on where it was.
  Json to_json() const;
  // Throws Error{kBadFile} naming `where`.
  static CorpusStatistics from_json(const Json& json, const std::string& where);

 private:
  int64_t inputs_ = 0;
  std::vector<std::vector<HeadSums>> sums_;  // [layer][head]
};

}  // namespace fovea
