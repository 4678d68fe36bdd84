#include "fovea/layers/disentangled.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fovea/base/error.h"
#include "fovea/ops/embedding.h"
#include "fovea/ops/layout.h"

namespace fovea {

RelativePositions::RelativePositions(const LayerSource& source, int64_t width, int64_t buckets,
                                     int64_t farthest, std::optional<Norm> norm)
    : buckets_(buckets),
      farthest_(farthest),
      span_(buckets > 0 ? buckets : farthest),
      table_(load_table(source, 2 * span_, width)),
      norm_(std::move(norm)) {}

// Half of the buckets hold one distance each, further ones share. In f32, as transformers computes
// it: the rounding decides which bucket an edge falls into.
int64_t RelativePositions::entry_of(int64_t ahead) const {
  int64_t bucket = ahead;
  const int64_t middle = buckets_ / 2, distance = std::abs(ahead);
  if (buckets_ > 0 && distance > middle) {
    const float place = std::log(static_cast<float>(distance) / static_cast<float>(middle)) /
                        std::log(static_cast<float>(static_cast<double>(farthest_ - 1) /
                                                    static_cast<double>(middle)));
    const auto further = static_cast<int64_t>(std::ceil(place * static_cast<float>(middle - 1)));
    bucket = (middle + further) * (ahead < 0 ? -1 : 1);
  }
  return std::clamp<int64_t>(bucket + span_, 0, 2 * span_ - 1);
}

RelativePositions::Entries RelativePositions::entries(int64_t tokens) const {
  Entries entries;
  // Keys that are further behind their query have larger entries.
  const int64_t first = entry_of(-(tokens - 1)), last = entry_of(tokens - 1);
  for (int64_t distance = -(tokens - 1); distance <= tokens - 1; ++distance) {
    entries.index.push_back(static_cast<int32_t>(entry_of(-distance) - first));
  }
  std::vector<int64_t> numbers(static_cast<size_t>(last - first + 1));
  std::iota(numbers.begin(), numbers.end(), first);
  entries.rows = ops::embedding(table_, numbers);
  if (norm_) entries.rows = (*norm_)(entries.rows).tensor;
  return entries;
}

PositionTables DisentangledBias::operator()(const RelativePositions::Entries& entries) const {
  const auto project = [&](const std::optional<ops::Linear>& projection) {
    return projection ? ops::split_heads((*projection)(entries.rows), heads_).tensor : Tensor();
  };
  return {.keys = project(keys_), .queries = project(queries_), .index = entries.index};
}

DisentangledTerms DisentangledTerms::of(const Config& config) {
  constexpr std::string_view kKey = "pos_att_type";
  DisentangledTerms terms;
  if (!config.has(kKey)) return terms;
  const Json& value = *config.json().find(kKey);
  std::vector<std::string> names;
  if (value.is_string()) {
    const std::string all = config.get_string(kKey);
    for (size_t begin = 0; begin <= all.size();) {
      const size_t end = std::min(all.find('|', begin), all.size());
      names.push_back(all.substr(begin, end - begin));
      begin = end + 1;
    }
  } else {
    names = config.get_strings(kKey);
  }
  for (const std::string& name : names) {
    if (name == "c2p") {
      terms.content_to_position = true;
    } else if (name == "p2c") {
      terms.position_to_content = true;
    } else if (!name.empty()) {
      fail(ErrorKind::kUnsupported, "{}: pos_att_type names '{}'; fovea knows c2p and p2c",
           config.source(), name);
    }
  }
  return terms;
}

}  // namespace fovea
