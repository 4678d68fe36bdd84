#include "fovea/explain/alignment/head_ranking.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "fovea/base/error.h"

namespace fovea {
namespace {

constexpr TargetReading kReadings[] = {TargetReading::kInput, TargetReading::kOutput};

double ratio_or_zero(double part, int64_t whole) {
  return whole == 0 ? 0 : part / static_cast<double>(whole);
}

// The entropy as a share of that of an even row of this length.
double relative_entropy(std::span<const double> row) {
  if (row.size() < 2) return 0;
  double entropy = 0;
  for (const double weight : row) {
    if (weight > 0) entropy -= weight * std::log(weight);
  }
  return entropy / std::log(static_cast<double>(row.size()));
}

double special_mass(std::span<const double> row, const PieceWords& source) {
  double mass = 0;
  for (size_t j = 0; j < row.size(); ++j) {
    if (source.word[j] < 0) mass += row[j];
  }
  return mass;
}

// Where each piece lies in its sentence, from 0 to 1; special positions are passed over.
std::vector<double> places(const PieceWords& pieces) {
  const auto count = std::ranges::count_if(pieces.word, [](int64_t word) { return word >= 0; });
  std::vector<double> result;
  double index = 0;
  for (const int64_t word : pieces.word) {
    result.push_back((index + 0.5) / static_cast<double>(std::max<int64_t>(count, 1)));
    if (word >= 0) index += 1;
  }
  return result;
}

// The sum over the rows of words only.
double sum_of_words(const Matrix& matrix, const PieceWords& target) {
  double sum = 0;
  for (int64_t i = 0; i < matrix.rows(); ++i) {
    if (target.word[static_cast<size_t>(i)] < 0) continue;
    sum = std::accumulate(matrix.row(i).begin(), matrix.row(i).end(), sum);
  }
  return sum;
}

std::vector<HeadCandidate> candidates_of(std::span<const CrossLayer> layers) {
  std::vector<HeadCandidate> candidates;
  for (const TargetReading reading : kReadings) {
    for (const CrossLayer& layer : layers) {
      for (int64_t head = 0; head < layer.heads(); ++head) {
        candidates.push_back({layer.layer(), head, reading});
      }
    }
    for (const CrossLayer& layer : layers) candidates.push_back({layer.layer(), {}, reading});
    candidates.push_back({{}, {}, reading});
  }
  return candidates;
}

Matrix weights_of(const PairMaps& pair, const HeadCandidate& candidate) {
  if (!candidate.layer) return mean_weights(pair.layers);
  const CrossLayer& layer = pair.layer(*candidate.layer);
  return candidate.head ? layer.head_weights(*candidate.head) : layer.mean_weights();
}

}  // namespace

std::string to_string(const HeadCandidate& candidate) {
  std::string which = "mean of all heads";
  if (candidate.layer && candidate.head) {
    which = fmt::format("layer {}, head {}", *candidate.layer, *candidate.head);
  } else if (candidate.layer) {
    which = fmt::format("mean of all heads of layer {}", *candidate.layer);
  }
  return fmt::format("{}, read by decoder {}", which, kTargetReadings.name_of(candidate.reading));
}

Matrix candidate_weights(const PairMaps& pair, const HeadCandidate& candidate) {
  return read_rows(weights_of(pair, candidate), candidate.reading, pair.rows());
}

// All that can fail, before any sum is touched.
void HeadRanking::begin(const PairMaps& pair, bool has_gold) {
  if (pair.layers.empty()) {
    fail(ErrorKind::kInvalidArgument, "there is no head to rank; give at least one layer");
  }
  const std::vector<HeadCandidate> candidates = candidates_of(pair.layers);
  const bool first = sentences_ == 0;
  if (!first && has_gold != has_gold_) {
    fail(ErrorKind::kInvalidArgument,
         "sentence {} comes {} gold links but those before it {}; give them always or never",
         sentences_ + 1, has_gold ? "with" : "without", has_gold ? "did not" : "did");
  }
  if (!first && !std::ranges::equal(candidates, sums_, {}, {}, &Sums::candidate)) {
    fail(ErrorKind::kInvalidArgument,
         "sentence {} has {} maps to rank but those before it {}, or of other layers; rank one "
         "model at a time",
         sentences_ + 1, candidates.size(), sums_.size());
  }
  for (const TargetReading reading : kReadings) {
    word_links(candidate_weights(pair, {{}, {}, reading}), pair.source, pair.target,
               options_.convention, options_.links);
  }
  for (const Link& anchor : pair.anchors) {
    if (anchor.source >= 0 && anchor.source < pair.source.pieces() && anchor.target >= 0 &&
        anchor.target < pair.target.pieces()) {
      continue;
    }
    fail(ErrorKind::kInvalidArgument,
         "source piece {} and target piece {} are an anchor but there are {} and {} pieces",
         anchor.source, anchor.target, pair.source.pieces(), pair.target.pieces());
  }
  if (!first) return;
  sums_.clear();
  for (const HeadCandidate& candidate : candidates) sums_.emplace_back().candidate = candidate;
  has_gold_ = has_gold;
}

void HeadRanking::add_anchors(Sums& sums, const Matrix& weights, const PairMaps& pair) {
  const SoftAlignment soft = piece_weights(weights, pair.source, pair.target);
  const std::vector<int64_t> sources = kept_positions(pair.source);
  const std::vector<int64_t> targets = kept_positions(pair.target);
  std::vector<Link> links;
  for (const Link& link : hard_links(soft)) {
    links.push_back(
        {sources[static_cast<size_t>(link.source)], targets[static_cast<size_t>(link.target)]});
  }
  for (const Link& anchor : pair.anchors) {
    sums.anchor_mass += weights(anchor.target, anchor.source);
    sums.anchor_hits += std::ranges::binary_search(links, anchor) ? 1 : 0;
  }
  sums.piece_links += static_cast<int64_t>(links.size());
  sums.mutual_links += static_cast<int64_t>(hard_links(soft, {LinkMethod::kMutual}).size());
}

void HeadRanking::add_rows(Sums& sums, const Matrix& weights, const PairMaps& pair) {
  const std::vector<double> source_places = places(pair.source);
  const std::vector<double> target_places = places(pair.target);
  for (int64_t i = 0; i < weights.rows(); ++i) {
    if (pair.target.word[static_cast<size_t>(i)] < 0) continue;
    const auto row = weights.row(i);
    sums.pieces += 1;
    sums.cells += weights.cols();
    sums.entropy += relative_entropy(row);
    sums.confidence += row.empty() ? 0 : *std::ranges::max_element(row);
    sums.special_mass += special_mass(row, pair.source);
    double mass = 0;
    double distance = 0;
    for (size_t j = 0; j < row.size(); ++j) {
      if (pair.source.word[j] < 0) continue;
      mass += row[j];
      distance += row[j] * std::abs(source_places[j] - target_places[static_cast<size_t>(i)]);
    }
    if (mass > 0) {
      sums.placed_pieces += 1;
      sums.distance += distance / mass;
    }
  }
}

void HeadRanking::add_norms(Sums& sums, const PairMaps& pair) {
  const HeadCandidate& candidate = sums.candidate;
  if (!candidate.layer) return;
  const CrossLayer& layer = pair.layer(*candidate.layer);
  const auto sum = [&](const Matrix& norms) {
    return sum_of_words(read_rows(norms, candidate.reading, pair.rows()), pair.target);
  };
  if (candidate.head) {
    sums.head_norm += sum(layer.head_norms(*candidate.head));
  } else {
    sums.layer_norm += sum(layer.layer_norms());
  }
}

void HeadRanking::add_links(std::span<const Alignment> links) {
  std::map<Link, int64_t> votes;  // of heads
  int64_t all = 0;
  for (size_t c = 0; c < links.size(); ++c) {
    if (!sums_[c].candidate.head) continue;
    all += static_cast<int64_t>(links[c].size());
    for (const Link& link : links[c]) ++votes[link];
  }
  for (size_t c = 0; c < links.size(); ++c) {
    Sums& sums = sums_[c];
    const bool votes_itself = sums.candidate.head.has_value();
    const auto count = static_cast<int64_t>(links[c].size());
    std::set<int64_t> sources, targets;
    for (const Link& link : links[c]) {
      sums.shared += votes[link] - (votes_itself ? 1 : 0);
      sources.insert(link.source);
      targets.insert(link.target);
    }
    sums.links += count;
    sums.others += all - (votes_itself ? count : 0);
    sums.linked_sources += static_cast<int64_t>(sources.size());
    sums.linked_targets += static_cast<int64_t>(targets.size());
  }
}

void HeadRanking::add(const PairMaps& pair, const GoldAlignment* gold) {
  begin(pair, gold != nullptr);
  has_norms_ = has_norms_ && std::ranges::all_of(pair.layers, &CrossLayer::has_norms);
  std::vector<Alignment> links;
  for (Sums& sums : sums_) {
    const Matrix weights = candidate_weights(pair, sums.candidate);
    add_anchors(sums, weights, pair);
    add_rows(sums, weights, pair);
    if (has_norms_) add_norms(sums, pair);
    links.push_back(
        word_links(weights, pair.source, pair.target, options_.convention, options_.links));
    if (gold != nullptr) sums.gold.add(*gold, links.back());
  }
  add_links(links);
  anchors_ += static_cast<int64_t>(pair.anchors.size());
  source_pieces_ += static_cast<int64_t>(kept_positions(pair.source).size());
  source_words_ += pair.source.words;
  target_words_ += pair.target.words;
  ++sentences_;
}

const HeadRanking::Sums& HeadRanking::layer_sums(const HeadCandidate& candidate) const {
  return *std::ranges::find(sums_, HeadCandidate{candidate.layer, {}, candidate.reading},
                            &Sums::candidate);
}

std::vector<HeadStatistics> HeadRanking::statistics() const {
  const auto heads = std::ranges::count_if(
      sums_, [](const Sums& sums) { return sums.candidate.head.has_value(); });
  std::vector<HeadStatistics> result;
  for (const Sums& sums : sums_) {
    HeadStatistics& one = result.emplace_back();
    one.candidate = sums.candidate;
    one.sentences = sentences_;
    one.target_pieces = sums.pieces;
    one.anchors = anchors_;
    one.anchor_mass = ratio_or_zero(sums.anchor_mass, anchors_);
    one.anchor_hits = ratio_or_zero(static_cast<double>(sums.anchor_hits), anchors_);
    one.two_way = ratio_or_zero(2 * static_cast<double>(sums.mutual_links),
                                sums.piece_links + source_pieces_);
    one.entropy = ratio_or_zero(sums.entropy, sums.pieces);
    one.confidence = ratio_or_zero(sums.confidence, sums.pieces);
    one.special_mass = ratio_or_zero(sums.special_mass, sums.pieces);
    one.diagonality =
        sums.placed_pieces == 0 ? 0 : 1 - ratio_or_zero(sums.distance, sums.placed_pieces);
    const int64_t others = heads - (sums.candidate.head ? 1 : 0);
    one.agreement =
        ratio_or_zero(2 * static_cast<double>(sums.shared), others * sums.links + sums.others);
    one.source_coverage = ratio_or_zero(static_cast<double>(sums.linked_sources), source_words_);
    one.target_coverage = ratio_or_zero(static_cast<double>(sums.linked_targets), target_words_);
    if (has_norms_ && sums.candidate.layer) {
      if (sums.candidate.head) one.head_norm = ratio_or_zero(sums.head_norm, sums.cells);
      one.layer_norm = ratio_or_zero(layer_sums(sums.candidate).layer_norm, sums.cells);
    }
    if (has_gold_) one.gold = sums.gold;
  }
  return result;
}

}  // namespace fovea
