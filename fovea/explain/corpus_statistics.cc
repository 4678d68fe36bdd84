#include "fovea/explain/corpus_statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "fovea/atlas/attention_map.h"
#include "fovea/base/error.h"
#include "fovea/base/parallel.h"
#include "fovea/explain/attention_distance.h"
#include "fovea/kernels/attention_tile.h"
#include "fovea/tensor/convert.h"

namespace fovea {
namespace {

constexpr int64_t kBlockRows = 48;

// The members in the order in which files hold them; offsets come after.
constexpr std::array<double HeadSums::*, 16> kMembers{
    &HeadSums::rows,       &HeadSums::entropy,    &HeadSums::open_rows, &HeadSums::evenness,
    &HeadSums::plain_rows, &HeadSums::confidence, &HeadSums::distance,  &HeadSums::weight,
    &HeadSums::previous,   &HeadSums::duplicate,  &HeadSums::induction, &HeadSums::delimiter,
    &HeadSums::first,      &HeadSums::later_rows, &HeadSums::repeats,   &HeadSums::retrieved};

constexpr std::array<HeadMetric, 11> kMetrics{
    {{"entropy", &HeadNumbers::entropy, "of a row, in nats"},
     {"evenness", &HeadNumbers::evenness, "entropy as a share of what is possible"},
     {"confidence", &HeadNumbers::confidence, "a row's largest weight, special tokens left out"},
     {"distance", &HeadNumbers::distance, "mean, in tokens or patches"},
     {"previous", &HeadNumbers::previous, "share of the weight on the token before"},
     {"duplicate", &HeadNumbers::duplicate, "share on earlier tokens of the same kind"},
     {"induction", &HeadNumbers::induction, "share on what followed the token before"},
     {"delimiter", &HeadNumbers::delimiter, "share on special tokens and punctuation"},
     {"sink", &HeadNumbers::sink, "mean weight on the first position"},
     {"retrieval", &HeadNumbers::retrieval,
      "share of repeated next tokens whose earlier place has the largest weight"},
     {"positional", &HeadNumbers::positional,
      "share of rows whose largest weight lies at the same offset"}}};

// Places of equal tokens, found once for all heads of an input.
class Repeats {
 public:
  explicit Repeats(const std::vector<int64_t>& ids) : earlier_(ids.size()) {
    std::map<int64_t, std::vector<int64_t>> seen;
    for (size_t i = 0; i < ids.size(); ++i) {
      std::vector<int64_t>& places = seen[ids[i]];
      earlier_[i] = places;
      places.push_back(static_cast<int64_t>(i));
    }
  }

  // Places before i of the token at i.
  const std::vector<int64_t>& before(int64_t i) const { return earlier_[static_cast<size_t>(i)]; }
  bool known() const { return !earlier_.empty(); }

 private:
  std::vector<std::vector<int64_t>> earlier_;
};

// One row of weights, and what the rest of the input says about it.
struct Row {
  int64_t i = 0;
  std::span<const float> weights;
  double entropy = 0;
  KeyRange seen;
  int64_t keys = 0;  // that it may see; less than the range where some are padding
  bool causal = false;
};

bool marked(const std::vector<uint8_t>& marks, int64_t position) {
  return !marks.empty() && marks[static_cast<size_t>(position)] != 0;
}

void add_patterns(const Row& row, const PositionKinds& kinds, const Repeats& repeats,
                  int64_t largest, HeadSums& sums) {
  const auto weight = [&](int64_t j) { return double{row.weights[static_cast<size_t>(j)]}; };
  if (kinds.picture) return;
  if (row.i > 0) sums.previous += weight(row.i - 1);
  if (!repeats.known()) return;
  for (const int64_t j : repeats.before(row.i)) {
    sums.duplicate += weight(j);
    sums.induction += weight(j + 1);
  }
  const int64_t next = row.i + 1;
  if (!row.causal || next >= static_cast<int64_t>(kinds.ids.size())) return;
  const std::vector<int64_t>& sources = repeats.before(next);
  // The token at i itself is no memory of an earlier place.
  const bool any = std::ranges::any_of(sources, [&](int64_t j) { return j < row.i; });
  if (!any) return;
  sums.repeats += 1;
  if (largest < row.i && std::ranges::binary_search(sources, largest)) sums.retrieved += 1;
}

void add_row(const Row& row, const PositionKinds& kinds, const Repeats& repeats, HeadSums& sums) {
  double total = 0, distance = 0, delimiter = 0;
  float most = 0, most_plain = 0;
  int64_t largest = -1;
  for (int64_t j = row.seen.begin; j < row.seen.end; ++j) {
    const float weight = row.weights[static_cast<size_t>(j)];
    total += double{weight};
    distance += double{weight} * static_cast<double>(std::abs(row.i - j));
    if (marked(kinds.delimiter, j)) delimiter += double{weight};
    if (weight > most) {
      most = weight;
      largest = j;
    }
    if (!marked(kinds.special, j)) most_plain = std::max(most_plain, weight);
  }
  if (largest < 0) return;  // it sees nothing
  sums.rows += 1;
  sums.entropy += row.entropy;
  if (row.keys > 1) {
    sums.open_rows += 1;
    sums.evenness += row.entropy / std::log(static_cast<double>(row.keys));
  }
  if (!marked(kinds.special, row.i)) {
    sums.plain_rows += 1;
    sums.confidence += double{most_plain};
  }
  if (!kinds.picture) sums.distance += distance;
  sums.weight += total;
  sums.delimiter += delimiter;
  if (row.i > 0 && row.seen.begin == 0) {
    sums.later_rows += 1;
    sums.first += double{row.weights[0]};
  }
  const int64_t offset = largest - row.i;
  if (std::abs(offset) <= kFarthestOffset && !kinds.picture) {
    sums.at_offset[static_cast<size_t>(offset + kFarthestOffset)] += 1;
  }
  add_patterns(row, kinds, repeats, largest, sums);
}

int64_t keys_seen(const Mask& mask, int64_t i, KeyRange range) {
  if (mask.range_only()) return range.end - range.begin;
  int64_t keys = 0;
  for (int64_t j = range.begin; j < range.end; ++j) keys += mask.allows(i, j);
  return keys;
}

HeadSums sums_of_head(const AttentionInputs& inputs, std::span<const double> lse, int64_t head,
                      const PositionKinds& kinds, const Repeats& repeats,
                      const CancelToken& cancel) {
  const AttentionShape shape = inputs.shape();
  const KeyRange all{0, shape.cols};
  const HeadTiles tiles(inputs, head, all);
  Tensor block = Tensor::uninitialized({std::min(kBlockRows, shape.rows), shape.cols});
  HeadSums sums;
  for (int64_t first = 0; first < shape.rows; first += kBlockRows) {
    cancel.check();
    const int64_t count = std::min(kBlockRows, shape.rows - first);
    const auto block_lse =
        lse.subspan(static_cast<size_t>(head * shape.rows + first), static_cast<size_t>(count));
    const MatrixView<float> weights = block.mutable_matrix<float>().block(0, 0, count, shape.cols);
    tiles.weights(first, all, block_lse, weights);
    std::vector<double> entropies(static_cast<size_t>(count));
    tiles.add_entropy(first, all, block_lse, entropies);
    for (int64_t r = 0; r < count; ++r) {
      const Mask& mask = inputs.rule->mask;
      const KeyRange seen = mask.key_range(first + r, shape.cols);
      add_row({.i = first + r,
               .weights = {weights.row(r), static_cast<size_t>(shape.cols)},
               .entropy = entropies[static_cast<size_t>(r)],
               .seen = seen,
               .keys = keys_seen(mask, first + r, seen),
               .causal = mask.ahead == 0},
              kinds, repeats, sums);
    }
  }
  return sums;
}

void check_kinds(const AttentionRecord& record, const PositionKinds& kinds) {
  const AttentionShape shape = record.shape();
  const auto positions = static_cast<size_t>(shape.cols);
  const auto fits = [&](size_t size) { return size == 0 || size == positions; };
  if (shape.rows == shape.cols && fits(kinds.ids.size()) && fits(kinds.special.size()) &&
      fits(kinds.delimiter.size())) {
    return;
  }
  fail(ErrorKind::kInvalidArgument,
       "{} has {} rows and {} columns, and what its positions are is told of {}, {} and {} of "
       "them; all must be alike",
       to_string(record.site), shape.rows, shape.cols, kinds.ids.size(), kinds.special.size(),
       kinds.delimiter.size());
}

double ratio(double part, double whole) {
  return whole > 0 ? part / whole : 0;
}

}  // namespace

void HeadSums::add(const HeadSums& other) {
  for (const auto member : kMembers) this->*member += other.*member;
  for (size_t i = 0; i < at_offset.size(); ++i) at_offset[i] += other.at_offset[i];
}

HeadNumbers numbers_of(const HeadSums& sums) {
  const auto most = std::ranges::max_element(sums.at_offset);
  return {.entropy = ratio(sums.entropy, sums.rows),
          .evenness = ratio(sums.evenness, sums.open_rows),
          .confidence = ratio(sums.confidence, sums.plain_rows),
          .distance = ratio(sums.distance, sums.rows),
          .previous = ratio(sums.previous, sums.weight),
          .duplicate = ratio(sums.duplicate, sums.weight),
          .induction = ratio(sums.induction, sums.weight),
          .delimiter = ratio(sums.delimiter, sums.weight),
          .sink = ratio(sums.first, sums.later_rows),
          .retrieval = ratio(sums.retrieved, sums.repeats),
          .positional = ratio(*most, sums.rows),
          .offset = (most - sums.at_offset.begin()) - kFarthestOffset};
}

std::span<const HeadMetric> head_metrics() {
  return kMetrics;
}

std::string head_type(const HeadNumbers& numbers) {
  // Voita's limit for positional heads is 90 % of rows, Gu's for sinks 0.3; the others are ours.
  if (numbers.positional >= 0.9 && numbers.offset == -1) return "previous token";
  if (numbers.positional >= 0.9) return fmt::format("positional {:+}", numbers.offset);
  if (numbers.induction >= 0.3) return "induction";
  if (numbers.duplicate >= 0.3) return "duplicate token";
  if (numbers.sink >= 0.3) return "sink";
  if (numbers.delimiter >= 0.5) return "delimiter";
  if (numbers.retrieval >= 0.3) return "retrieval";
  if (numbers.evenness >= 0.9) return "broad";
  if (numbers.confidence >= 0.8) return "confident";
  return "mixed";
}

void CorpusStatistics::add(const AttentionRecord& record, const PositionKinds& kinds,
                           const CancelToken& cancel) {
  check_kinds(record, kinds);
  const int64_t heads = record.shape().heads;
  const auto layer = static_cast<size_t>(record.site.layer);
  if (sums_.size() <= layer) {
    sums_.resize(layer + 1, std::vector<HeadSums>(static_cast<size_t>(heads)));
  }
  if (static_cast<int64_t>(sums_[layer].size()) != heads) {
    fail(ErrorKind::kInvalidArgument, "{} has {} heads but layer 0 has {}", to_string(record.site),
         heads, sums_[layer].size());
  }
  const Repeats repeats(kinds.ids);
  const AttentionInputs inputs = inputs_of(record);
  const Tensor lse = convert(record.lse, DType::kF64);
  parallel_for(heads, [&](int64_t head) {
    HeadSums sums = sums_of_head(inputs, lse.values<double>(), head, kinds, repeats, cancel);
    if (kinds.picture) {
      const std::shared_ptr<const AttentionRecord> borrowed(std::shared_ptr<void>(), &record);
      sums.distance =
          sums.rows * attention_distance(AttentionMap(borrowed, head), *kinds.picture, 1);
    }
    sums_[layer][static_cast<size_t>(head)].add(sums);
  });
}

const HeadSums& CorpusStatistics::sums(int64_t layer, int64_t head) const {
  return sums_.at(static_cast<size_t>(layer)).at(static_cast<size_t>(head));
}

Json CorpusStatistics::to_json() const {
  Json layers = Json::array();
  for (const std::vector<HeadSums>& heads : sums_) {
    Json layer = Json::array();
    for (const HeadSums& sums : heads) {
      Json numbers = Json::array();
      for (const auto member : kMembers) numbers.push_back(sums.*member);
      for (const double count : sums.at_offset) numbers.push_back(count);
      layer.push_back(std::move(numbers));
    }
    layers.push_back(std::move(layer));
  }
  Json json = Json::object();
  json.set("inputs", inputs_);
  json.set("sums", std::move(layers));
  return json;
}

CorpusStatistics CorpusStatistics::from_json(const Json& json, const std::string& where) {
  CorpusStatistics statistics;
  statistics.inputs_ = json.at("inputs", where).as_int(where + ".inputs");
  for (const Json& layer : json.at("sums", where).as_array(where + ".sums")) {
    std::vector<HeadSums>& heads = statistics.sums_.emplace_back();
    for (const Json& numbers : layer.as_array(where + ".sums")) {
      const Json::Array& list = numbers.as_array(where + ".sums");
      HeadSums& sums = heads.emplace_back();
      if (list.size() != kMembers.size() + sums.at_offset.size()) {
        fail(ErrorKind::kBadFile, "{}.sums has {} numbers for a head but should have {}", where,
             list.size(), kMembers.size() + sums.at_offset.size());
      }
      for (size_t i = 0; i < list.size(); ++i) {
        const double number = list[i].as_double(where + ".sums");
        if (i < kMembers.size()) {
          sums.*kMembers[i] = number;
        } else {
          sums.at_offset[i - kMembers.size()] = number;
        }
      }
    }
  }
  return statistics;
}

}  // namespace fovea
