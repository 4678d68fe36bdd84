// Ranks the maps of cross-attention by how well they align: every head, the mean of each layer and
// the mean of all heads, each read by decoder input and by decoder output, over one sentence pair
// or many. Sentences stream through; memory grows with the number of heads only. aligner.h decides.
//
// The rule's two numbers are computed from the pieces of words, without special ones. The anchors K
// are pairs of pieces that belong together without any attention. a_j is the column of target piece
// j's largest weight; if a special position is largest, j has no link. b_i is the row of source
// piece i's largest weight.
//
//   anchor mass        m = sum over K of A(j, i) / |K|        anchor hits = share of K with a_j = i
//   two-way agreement  D = 2 |{j : b(a_j) = j}| / (|{j : a_j}| + |{i}|)
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fovea/explain/alignment/alignment_score.h"
#include "fovea/explain/alignment/pair_maps.h"

namespace fovea {

// A candidate map: one head; without a head the mean of a layer; without a layer the mean of all
// heads.
struct HeadCandidate {
  std::optional<int> layer;
  std::optional<int64_t> head;
  TargetReading reading = TargetReading::kInput;

  bool operator==(const HeadCandidate&) const = default;
};

// "layer 2, head 5, read by decoder input", "mean of all heads of layer 2, read by ..."
std::string to_string(const HeadCandidate& candidate);

// The candidate's weights for the target tokens: [target tokens, source positions]. Throws
// Error{kInvalidArgument} if there is no such layer, head or row.
Matrix candidate_weights(const PairMaps& pair, const HeadCandidate& candidate);

// Statistics of one candidate: means over the target pieces of all sentences, without special ones,
// unless a member says otherwise.
struct HeadStatistics {
  HeadCandidate candidate;
  int64_t sentences = 0;
  int64_t target_pieces = 0;

  int64_t anchors = 0;     // |K|, of all sentences
  double anchor_mass = 0;  // m
  double anchor_hits = 0;  // share of the anchors that are links of the map
  double two_way = 0;      // D
  // The rule without gold links ranks by this.
  double score() const { return anchor_mass * two_way; }

  double entropy = 0;       // a row's, as a share of log(length): 0 sharp, 1 even
  double confidence = 0;    // the largest weight of a row
  double special_mass = 0;  // a row's weight on special source positions
  // How close the map is to the diagonal, 1 at best: 1 minus the mean distance, weighted by
  // attention, between a piece's place and the places that it attends to. Sentences run from 0 to
  // 1; special positions are left out.
  double diagonality = 0;
  // How far the map's links between words agree with the other heads' links B, in both readings: 2
  // |A n B| / (|A| + |B|), counted over all heads and sentences.
  double agreement = 0;
  double source_coverage = 0;  // share of source words that have a link
  double target_coverage = 0;
  // Means over cells: A ||f(x)|| of this head, and || sum_h A f(x) || of its layer. Only if values
  // and blocks were captured.
  std::optional<double> head_norm;
  std::optional<double> layer_norm;
  // How the map's links score against gold links, if there are any.
  std::optional<AlignmentScore> gold;
};

struct RankingOptions {
  WordConvention convention = WordConvention::kMerge;
  LinkRule links;
};

class HeadRanking {
 public:
  explicit HeadRanking(RankingOptions options = {}) : options_(options) {}

  // Adds a sentence pair. All need the same layers and heads, and gold links either always or
  // never. Throws Error{kInvalidArgument} and then adds nothing.
  void add(const PairMaps& pair, const GoldAlignment* gold = nullptr);

  // All candidates: those read by input, then those read by output. Each list has the heads by
  // layer, the means of layers, the mean of all.
  std::vector<HeadStatistics> statistics() const;
  int64_t sentences() const { return sentences_; }

 private:
  // The sums of one candidate.
  struct Sums {
    HeadCandidate candidate;
    int64_t pieces = 0;
    double anchor_mass = 0;
    int64_t anchor_hits = 0;
    int64_t mutual_links = 0;  // between pieces
    int64_t piece_links = 0;
    double entropy = 0;
    double confidence = 0;
    double special_mass = 0;
    int64_t placed_pieces = 0;  // that give any weight to what is not special
    double distance = 0;
    int64_t cells = 0;
    double head_norm = 0;
    double layer_norm = 0;
    int64_t links = 0;
    int64_t shared = 0;  // sum over the other heads of links in common
    int64_t others = 0;  // sum over the other heads of their links
    int64_t linked_sources = 0;
    int64_t linked_targets = 0;
    AlignmentScore gold;
  };

  void begin(const PairMaps& pair, bool has_gold);
  static void add_anchors(Sums& sums, const Matrix& weights, const PairMaps& pair);
  static void add_rows(Sums& sums, const Matrix& weights, const PairMaps& pair);
  static void add_norms(Sums& sums, const PairMaps& pair);
  void add_links(std::span<const Alignment> links);
  // The sums of the mean of the candidate's layer, which gather the layer's norms.
  const Sums& layer_sums(const HeadCandidate& candidate) const;

  RankingOptions options_;
  int64_t sentences_ = 0;
  int64_t anchors_ = 0;
  int64_t source_pieces_ = 0;
  int64_t source_words_ = 0;
  int64_t target_words_ = 0;
  bool has_norms_ = true;
  bool has_gold_ = false;
  std::vector<Sums> sums_;
};

}  // namespace fovea
