#include "fovea/explain/corpus_statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fovea/atlas/attention_map.h"
#include "fovea/base/cancel.h"
#include "fovea/base/error.h"
#include "fovea/base/parallel.h"
#include "fovea/explain/pictures/attention_distance.h"
#include "fovea/kernels/attention_tile.h"
#include "fovea/kernels/weight_rows.h"
#include "fovea/tensor/convert.h"

namespace fovea {
namespace {

constexpr int64_t kBlockRows = 48;

bool marked(const std::vector<uint8_t>& marks, int64_t position) {
  return !marks.empty() && marks[static_cast<size_t>(position)] != 0;
}

// For each token the nearest earlier place of the same one, or -1.
std::vector<int64_t> earlier_places(const std::vector<int64_t>& ids) {
  std::vector<int64_t> order(ids.size());
  std::iota(order.begin(), order.end(), 0);
  const auto id = [&](int64_t i) { return ids[static_cast<size_t>(i)]; };
  std::ranges::sort(order,
                    [&](int64_t a, int64_t b) { return id(a) != id(b) ? id(a) < id(b) : a < b; });
  std::vector<int64_t> earlier(ids.size(), -1);
  for (size_t i = 1; i < order.size(); ++i) {
    if (id(order[i]) == id(order[i - 1])) earlier[static_cast<size_t>(order[i])] = order[i - 1];
  }
  return earlier;
}

// What all heads of one attention share.
class MapReader {
 public:
  MapReader(const AttentionRecord& record, const PositionKinds& rows, const PositionKinds& cols)
      : inputs_(inputs_of(record)),
        shape_(inputs_.shape()),
        rows_(rows),
        cols_(cols),
        one_axis_(&rows == &cols),
        earlier_(earlier_places(one_axis_ && rows.in_line ? rows.ids : std::vector<int64_t>{})),
        plain_(static_cast<size_t>(shape_.cols), 1.0F),
        delimiters_(plain_.size(), 0.0F),
        lse_(convert(record.lse, DType::kF64)) {
    for (int64_t j = 0; j < shape_.cols; ++j) {
      if (marked(cols.special, j)) plain_[static_cast<size_t>(j)] = 0;
      if (marked(cols.delimiter, j)) delimiters_[static_cast<size_t>(j)] = 1;
    }
    if (one_axis_ && rows.picture) distances_.emplace(rows.picture->grid);
    const Mask& mask = inputs_.rule->mask;
    for (int64_t i = 0; i < shape_.rows; ++i) {
      const double keys = static_cast<double>(keys_seen(mask, i));
      largest_entropy_.push_back(keys > 1 ? std::log(keys) : 0);
    }
  }

  HeadSums sums_of_head(int64_t head) const {
    const KeyRange all{0, shape_.cols};
    const HeadTiles tiles(inputs_, head, all);
    Tensor block = Tensor::uninitialized({std::min(kBlockRows, shape_.rows), shape_.cols});
    std::array<RowPeak, kBlockRows> peaks;
    std::array<double, kBlockRows> entropies{};
    HeadSums sums;
    CellSums cells;
    for (int64_t first = 0; first < shape_.rows; first += kBlockRows) {
      check_cancelled();
      const int64_t count = std::min(kBlockRows, shape_.rows - first);
      const MatrixView<float> weights =
          block.mutable_matrix<float>().block(0, 0, count, shape_.cols);
      const auto rows = static_cast<size_t>(count);
      std::fill_n(entropies.begin(), rows, 0.0);
      tiles.weights_and_entropy(
          first, all,
          lse_.values<double>().subspan(static_cast<size_t>(head * shape_.rows + first), rows),
          weights, {entropies.data(), rows});
      for (int64_t r = 0; r < count; ++r) {
        // Without weights a row counts as one that sees nothing.
        if (!counts(first + r)) std::fill_n(weights.row(r), shape_.cols, 0.0F);
      }
      summarize_rows(weights, first, plain_, delimiters_, {peaks.data(), rows}, cells);
      for (int64_t r = 0; r < count; ++r) {
        const auto at = static_cast<size_t>(r);
        if (peaks[at].largest > 0) {
          add_row(first + r, weights.row(r), entropies[at], peaks[at], sums);
        }
      }
    }
    add_cells(cells, sums);
    return sums;
  }

 private:
  int64_t keys_seen(const Mask& mask, int64_t i) const {
    const KeyRange range = mask.key_range(i, shape_.cols);
    if (mask.range_only()) return range.end - range.begin;
    int64_t keys = 0;
    for (int64_t j = range.begin; j < range.end; ++j) keys += mask.allows(i, j);
    return keys;
  }

  // Not padding: neither by what is known of it nor because no key may be seen there.
  bool counts(int64_t i) const {
    if (marked(rows_.padding, i)) return false;
    const std::vector<uint8_t>& valid = inputs_.rule->mask.key_valid;
    return !one_axis_ || valid.empty() || valid[static_cast<size_t>(i)] != 0;
  }

  void add_cells(const CellSums& cells, HeadSums& sums) const {
    if (!cols_.delimiter.empty()) {
      sums.delimiter_total = cells.weight;
      sums.delimiter = cells.marked;
    }
    if (!one_axis_ || !rows_.in_line) return;
    sums.distance_rows = sums.rows;
    sums.distance = cells.distance;
    if (!rows_.ids.empty()) sums.pattern_total = cells.weight;
  }

  void add_row(int64_t i, const float* weights, double entropy, const RowPeak& peak,
               HeadSums& sums) const {
    sums.rows += 1;
    sums.entropy += entropy;
    if (const double largest = largest_entropy_[static_cast<size_t>(i)]; largest > 0) {
      sums.open_rows += 1;
      sums.evenness += entropy / largest;
    }
    if (!marked(rows_.special, i)) {
      sums.plain_rows += 1;
      sums.confidence += double{peak.largest_plain};
    }
    if (!one_axis_) return;
    if (distances_) add_distance(i, weights, sums);
    // In pictures position 0 is a sink only if it is no part of the picture.
    const bool has_first = rows_.in_line || marked(rows_.special, 0);
    if (has_first && i > 0 && inputs_.rule->mask.allows(i, 0)) {
      sums.later_rows += 1;
      sums.first += double{weights[0]};
    }
    if (!rows_.in_line) return;
    sums.placed_rows += 1;
    if (const int64_t offset = peak.place - i; std::abs(offset) <= kFarthestOffset) {
      sums.at_offset[static_cast<size_t>(offset + kFarthestOffset)] += 1;
    }
    if (!earlier_.empty()) add_patterns(i, weights, peak.place, sums);
  }

  void add_distance(int64_t i, const float* weights, HeadSums& sums) const {
    const PictureAxis& axis = *rows_.picture;
    if (i < axis.specials) return;
    const auto patches = static_cast<size_t>(axis.grid.patches());
    const PatchMoment moment =
        distances_->moment(i - axis.specials, {weights + axis.specials, patches});
    if (moment.weight <= 0) return;
    sums.distance_rows += 1;
    sums.distance += moment.distance / moment.weight;
  }

  int64_t earlier(int64_t i) const { return earlier_[static_cast<size_t>(i)]; }

  void add_patterns(int64_t i, const float* weights, int64_t largest, HeadSums& sums) const {
    if (i > 0) sums.previous += double{weights[i - 1]};
    for (int64_t j = earlier(i); j >= 0; j = earlier(j)) {
      sums.duplicate += double{weights[j]};
      sums.induction += double{weights[j + 1]};
    }
    const int64_t next = i + 1;
    if (inputs_.rule->mask.ahead != 0 || next >= shape_.rows) return;
    // The token at i itself is no memory of an earlier place.
    const int64_t source = earlier(next) == i ? earlier(i) : earlier(next);
    if (source < 0) return;
    sums.repeats += 1;
    const auto id = [&](int64_t j) { return rows_.ids[static_cast<size_t>(j)]; };
    if (largest < i && id(largest) == id(next)) sums.retrieved += 1;
  }

  AttentionInputs inputs_;
  AttentionShape shape_;
  const PositionKinds& rows_;
  const PositionKinds& cols_;
  bool one_axis_;
  std::vector<int64_t> earlier_;
  std::vector<float> plain_, delimiters_;  // 0 or 1, one per column
  std::vector<double> largest_entropy_;    // log of the keys seen; 0: one or none
  std::optional<PatchDistances> distances_;
  Tensor lse_;
};

void check_axis(const AttentionRecord& record, const char* what, int64_t positions,
                const PositionKinds& kinds) {
  const auto fits = [&](size_t size) {
    return size == 0 || static_cast<int64_t>(size) == positions;
  };
  if (fits(kinds.ids.size()) && fits(kinds.special.size()) && fits(kinds.delimiter.size()) &&
      fits(kinds.padding.size()) && (!kinds.picture || kinds.picture->positions() == positions)) {
    return;
  }
  fail(ErrorKind::kInvalidArgument,
       "{} has {} {}, but something else is told of its positions: {} ids, {} special or not, {} "
       "delimiters or not; all must be alike",
       to_string(record.site), positions, what, kinds.ids.size(), kinds.special.size(),
       kinds.delimiter.size());
}

}  // namespace

std::vector<HeadSums> sums_of(const AttentionRecord& record, const PositionKinds& rows,
                              const PositionKinds& cols) {
  const AttentionShape shape = record.shape();
  check_axis(record, "rows", shape.rows, rows);
  check_axis(record, "columns", shape.cols, cols);
  if (&rows == &cols && shape.rows != shape.cols) {
    fail(ErrorKind::kInvalidArgument, "{} has {} rows and {} columns, which are not one axis",
         to_string(record.site), shape.rows, shape.cols);
  }
  const MapReader reader(record, rows, cols);
  std::vector<HeadSums> sums(static_cast<size_t>(shape.heads));
  parallel_for(shape.heads,
               [&](int64_t head) { sums[static_cast<size_t>(head)] = reader.sums_of_head(head); });
  return sums;
}

void CorpusStatistics::add(SiteId site, const std::vector<HeadSums>& heads) {
  const auto layer = static_cast<size_t>(site.layer);
  if (sums_.size() <= layer) sums_.resize(layer + 1, std::vector<HeadSums>(heads.size()));
  std::vector<HeadSums>& all = sums_[layer];
  if (all.size() != heads.size()) {
    fail(ErrorKind::kInvalidArgument, "{} has {} heads but had {} before", to_string(site),
         heads.size(), all.size());
  }
  for (size_t head = 0; head < heads.size(); ++head) all[head].add(heads[head]);
}

void CorpusStatistics::merge(const CorpusStatistics& other) {
  for (size_t layer = 0; layer < other.sums_.size(); ++layer) {
    add({SiteKind::kSelf, static_cast<int>(layer)}, other.sums_[layer]);
  }
  inputs_ += other.inputs_;
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
      for (const auto member : head_sum_members()) numbers.push_back(sums.*member);
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
  const auto members = head_sum_members();
  for (const Json& layer : json.at("sums", where).as_array(where + ".sums")) {
    std::vector<HeadSums>& heads = statistics.sums_.emplace_back();
    for (const Json& numbers : layer.as_array(where + ".sums")) {
      const Json::Array& list = numbers.as_array(where + ".sums");
      HeadSums& sums = heads.emplace_back();
      if (list.size() != members.size() + sums.at_offset.size()) {
        fail(ErrorKind::kBadFile, "{}.sums has {} numbers for a head but should have {}", where,
             list.size(), members.size() + sums.at_offset.size());
      }
      for (size_t i = 0; i < list.size(); ++i) {
        const double number = list[i].as_double(where + ".sums");
        if (i < members.size()) {
          sums.*members[i] = number;
        } else {
          sums.at_offset[i - members.size()] = number;
        }
      }
    }
    if (heads.size() != statistics.sums_.front().size()) {
      fail(ErrorKind::kBadFile, "{}.sums has layers of {} and of {} heads", where,
           statistics.sums_.front().size(), heads.size());
    }
  }
  return statistics;
}

}  // namespace fovea
