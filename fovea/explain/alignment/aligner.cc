#include "fovea/explain/alignment/aligner.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <tuple>

#include "fovea/base/error.h"

namespace fovea {
namespace {

// Below these the rule has too little to go by.
constexpr int64_t kFewestAnchors = 5;
constexpr double kLeastHits = 0.5;
constexpr double kLeastTwoWay = 0.5;

HeadCandidate candidate_of(const MapChoice& choice) {
  return {choice.layer, choice.head, choice.reading};
}

// Numbers that differ by rounding only are equal.
double rounded(double value) {
  return std::round(value * 1e9);
}

bool is_left(const HeadCandidate& candidate, const AlignOptions& options) {
  if (options.reading && candidate.reading != *options.reading) return false;
  if (options.mean) return !candidate.head && candidate.layer == options.layer;
  return candidate.head && (!options.layer || candidate.layer == options.layer) &&
         (!options.head || candidate.head == options.head);
}

// "layer 0: heads 0 to 7, layer 1: heads 0 to 7"
std::string what_there_is(std::span<const HeadStatistics> statistics) {
  std::set<std::pair<int, int64_t>> heads;
  for (const HeadStatistics& one : statistics) {
    if (one.candidate.head) heads.emplace(*one.candidate.layer, *one.candidate.head);
  }
  std::vector<std::string> layers;
  for (auto entry = heads.begin(); entry != heads.end();) {
    auto last = entry;
    for (auto next = entry; next != heads.end() && next->first == entry->first; ++next) last = next;
    layers.push_back(
        fmt::format("layer {} with heads {} to {}", entry->first, entry->second, last->second));
    entry = std::next(last);
  }
  return fmt::format("{}", fmt::join(layers, ", "));
}

std::string what_is_asked(const AlignOptions& options) {
  const std::string layer = options.layer ? fmt::format("layer {}", *options.layer) : "any layer";
  if (options.mean) return fmt::format("the mean of {}", layer);
  return options.head ? fmt::format("head {} of {}", *options.head, layer) : layer;
}

std::vector<HeadStatistics> what_is_left(std::span<const HeadStatistics> statistics,
                                         const AlignOptions& options) {
  if (options.mean && options.head) {
    fail(ErrorKind::kInvalidArgument, "both head {} and the mean of heads are asked for; take one",
         *options.head);
  }
  if (statistics.empty()) {
    fail(ErrorKind::kInvalidArgument,
         "there is no head to choose from; rank at least one sentence first");
  }
  std::vector<HeadStatistics> left;
  std::ranges::copy_if(statistics, std::back_inserter(left),
                       [&](const HeadStatistics& one) { return is_left(one.candidate, options); });
  if (left.empty()) {
    fail(ErrorKind::kInvalidArgument, "there is no cross-attention in {}; there is {}",
         what_is_asked(options), what_there_is(statistics));
  }
  return left;
}

MapChoice choice_of(const HeadStatistics& one, std::string why) {
  return {one.candidate.layer, one.candidate.head, one.candidate.reading, std::move(why)};
}

std::string sentences(int64_t count) {
  return count == 1 ? "this sentence" : fmt::format("{} sentences", count);
}

// The maps that the rule chose among: "48 maps", or "the two readings" of one head.
std::string pool(const std::vector<HeadStatistics>& left) {
  return left.size() == 2 && left[0].candidate.head == left[1].candidate.head
             ? "the two readings"
             : fmt::format("{} maps", left.size());
}

bool is_confident(const HeadStatistics& one) {
  return one.anchors >= kFewestAnchors && one.anchor_hits >= kLeastHits &&
         one.two_way >= kLeastTwoWay;
}

std::string anchor_pairs(int64_t count) {
  return fmt::format("{} anchor pair{}", count, count == 1 ? "" : "s");
}

std::string reason(const HeadStatistics& one, const std::vector<HeadStatistics>& left) {
  std::string text = fmt::format("chosen without gold from {} on {} because ", pool(left),
                                 sentences(one.sentences));
  if (one.anchors == 0) {
    text += fmt::format(
        "its links agree most read in either direction ({:.0f} %), for there are "
        "no anchor pairs to go by",
        100 * one.two_way);
  } else {
    text += fmt::format(
        "it puts {:.0f} % of its attention on the {} (the same piece "
        "on both sides, or each other's nearest neighbour among the model's own "
        "embeddings) and its links agree {:.0f} % read in either direction",
        100 * one.anchor_mass, anchor_pairs(one.anchors), 100 * one.two_way);
  }
  if (!is_confident(one)) {
    text += fmt::format(
        "; low confidence, since {}",
        one.anchors < kFewestAnchors
            ? fmt::format("{} {} few", anchor_pairs(one.anchors), one.anchors == 1 ? "is" : "are")
        : one.anchor_hits < kLeastHits
            ? fmt::format("only {:.0f} % of the anchor pairs are links of it",
                          100 * one.anchor_hits)
            : std::string("half of its links point one way only"));
  }
  return text + ".";
}

void to_shares(Matrix& matrix) {
  for (int64_t i = 0; i < matrix.rows(); ++i) {
    const auto row = matrix.row(i);
    const double sum = std::accumulate(row.begin(), row.end(), 0.0);
    if (!(sum > 0)) continue;
    for (double& value : row) value /= sum;
  }
}

Matrix cross_norms(const PairMaps& pair, const MapChoice& choice) {
  if (choice.layer) {
    const CrossLayer& layer = pair.layer(*choice.layer);
    return choice.head ? layer.head_norms(*choice.head) : layer.layer_norms();
  }
  // The sum over layers; shares make a mean of it.
  Matrix sum;
  for (const CrossLayer& layer : pair.layers) {
    const Matrix norms = layer.layer_norms();
    if (sum.empty()) sum = Matrix(norms.rows(), norms.cols());
    for (int64_t i = 0; i < sum.rows(); ++i) {
      for (int64_t j = 0; j < sum.cols(); ++j) sum(i, j) += norms(i, j);
    }
  }
  return sum;
}

}  // namespace

std::string to_string(const MapChoice& choice) {
  return to_string(candidate_of(choice));
}

MapChoice choose_map(std::span<const HeadStatistics> statistics, const AlignOptions& options) {
  const std::vector<HeadStatistics> left = what_is_left(statistics, options);
  if (left.size() == 1) return choice_of(left.front(), "");
  // max_element keeps the first of equals, and the order of the statistics is that of preference.
  const HeadStatistics& best = *std::ranges::max_element(left, {}, [](const HeadStatistics& one) {
    return std::tuple(rounded(one.score()), rounded(one.two_way));
  });
  MapChoice choice = choice_of(best, reason(best, left));
  choice.confident = is_confident(best);
  return choice;
}

MapChoice best_map_by_gold(std::span<const HeadStatistics> statistics,
                           const AlignOptions& options) {
  const std::vector<HeadStatistics> left = what_is_left(statistics, options);
  if (!left.front().gold) {
    fail(ErrorKind::kInvalidArgument,
         "the sentences were ranked without gold links; give them, or choose without gold");
  }
  const HeadStatistics& best = *std::ranges::min_element(
      left, {}, [](const HeadStatistics& one) { return one.gold->aer(); });
  return choice_of(best,
                   fmt::format("the lowest alignment error rate of {} against gold links on "
                               "{}: {:.1f} %.",
                               pool(left), sentences(best.sentences), 100 * best.gold->aer()));
}

Matrix map_weights(const PairMaps& pair, const MapChoice& choice, bool norms) {
  if (!norms) return candidate_weights(pair, candidate_of(choice));
  Matrix shares = read_rows(cross_norms(pair, choice), choice.reading, pair.rows());
  to_shares(shares);
  return shares;
}

PairAlignment align_pair(const PairMaps& pair, const MapChoice& choice,
                         const AlignOptions& options) {
  const Matrix weights = map_weights(pair, choice, options.norms);
  return {word_weights(weights, pair.source, pair.target),
          word_links(weights, pair.source, pair.target, options.convention, options.links)};
}

}  // namespace fovea
