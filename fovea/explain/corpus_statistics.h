// Numbers that tell what kind a head is, averaged over the rows of many inputs. Every map is read
// once, block by block, and none of it is kept.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fovea/base/json.h"
#include "fovea/capture/run.h"
#include "fovea/explain/head_numbers.h"
#include "fovea/explain/pictures/picture_axis.h"

namespace fovea {

// What the numbers need to know about the positions of an axis, one entry each. An empty list is
// unknown; numbers that need it are then not counted.
struct PositionKinds {
  std::vector<int64_t> ids;        // equal tokens have equal ids
  std::vector<uint8_t> special;    // [CLS], [SEP]
  std::vector<uint8_t> delimiter;  // special tokens and punctuation
  std::vector<uint8_t> padding;    // its rows do not count
  bool in_line = false;            // a text: offsets between positions mean something
  // The grid of patches; their distances are Euclidean, in patches.
  std::optional<PictureAxis> picture;
};

// The sums of all heads of one attention. Where rows and columns are the same positions (all but
// cross-attention), `rows` and `cols` must be one object. Throws Error{kInvalidArgument} unless
// they fit the record. May be called from any thread.
std::vector<HeadSums> sums_of(const AttentionRecord& record, const PositionKinds& rows,
                              const PositionKinds& cols);

// The statistics of one kind of site, layers x heads.
class CorpusStatistics {
 public:
  // Adds what sums_of() gave for a layer. Throws Error{kInvalidArgument} if the layer had another
  // number of heads before.
  void add(SiteId site, const std::vector<HeadSums>& heads);
  // Counts one input as finished.
  void end_input() { ++inputs_; }
  // Adds another count of the same model. Throws as add() does.
  void merge(const CorpusStatistics& other);

  int64_t inputs() const { return inputs_; }
  int64_t layers() const { return static_cast<int64_t>(sums_.size()); }
  int64_t heads() const { return sums_.empty() ? 0 : static_cast<int64_t>(sums_.front().size()); }
  const HeadSums& sums(int64_t layer, int64_t head) const;

  // The sums as they are, so that an interrupted count can continue.
  Json to_json() const;
  // Throws Error{kBadFile} naming `where`.
  static CorpusStatistics from_json(const Json& json, const std::string& where);

 private:
  int64_t inputs_ = 0;
  std::vector<std::vector<HeadSums>> sums_;  // [layer][head]
};

}  // namespace fovea
