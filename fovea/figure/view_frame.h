// What all views share: which record and heads are meant, how rows and columns are grouped, and
// what is said about them.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fovea/atlas/merged_map.h"
#include "fovea/capture/words.h"
#include "fovea/figure/view.h"

namespace fovea {

using RecordPointer = std::shared_ptr<const AttentionRecord>;

SiteKind chosen_kind(const Run& run, const ViewChoice& choice);
// The records of one kind, by rising layer. Throws Error{kNotFound} if there are none.
std::vector<RecordPointer> records_of(const Run& run, SiteKind kind);
RecordPointer chosen_record(const Run& run, const ViewChoice& choice);

struct CellPath;  // cell_path.h

// Rows or columns of a figure.
struct Side {
  const Axis* axis = nullptr;
  std::vector<PositionGroup> groups;
  Axis shown;
  std::vector<PositionGroup> all = {};  // of the whole axis, never pooled
  PositionGroup part = {};              // which of them are shown

  bool is_part() const { return part.size() < std::ssize(all); }
  // Its index among those that are shown, before they are pooled. Throws
  // Error{kInvalidArgument} about the token if it is not.
  int64_t place_of(const FoundToken& found) const;
  int64_t size() const { return static_cast<int64_t>(groups.size()); }
};

// Makes a side with one position per group: single tokens, words, or blocks of `block` tokens.
Side make_side(const Run& run, const std::string& axis, bool words, int64_t block = 1,
               std::optional<PositionGroup> part = {});

// Which rows and columns a choice means.
struct MapPart {
  PositionGroup rows;
  PositionGroup cols;
};
// `rows` and `cols` are whole. Throws Error{kInvalidArgument} about the field for what there is
// not.
MapPart map_part(const ViewChoice& choice, const Side& rows, const Side& cols);
// " · rows 5 to 9 of 100, columns 0 to 9 of 100, sums of those alone"; empty for a whole map.
std::string part_note(const Side& rows, const Side& cols);

// The parts of a figure of one record.
struct Frame {
  RecordPointer record;
  Side rows;
  Side cols;
  Merge merge = Merge::kWords;
  int64_t block = 1;  // positions per group where the map is pooled
  MapValue of = MapValue::kWeight;
  std::vector<int64_t> left_out = {};  // columns of the map that count for nothing
  // Cells of a picture along a path; none: in the model's order.
  std::shared_ptr<const CellPath> path = {};

  // Whether the cells are those of survey_map(): all of one head, in bins of tokens.
  bool can_survey(HeadChoice head, bool words) const;
  MergedMap map(HeadChoice head) const;
  std::string note(bool words) const;        // what of the map is shown, and how it is merged
  std::string merge_note(bool words) const;  // the latter alone
};

// Makes the frame. It is pooled if a side is longer than `largest`, unless the choice wants every
// cell. Throws Error{kInvalidArgument} if `panels` such maps have too many cells.
Frame make_frame(const Run& run, const RecordPointer& record, const ViewChoice& choice,
                 int64_t panels, int64_t largest);

// The place of the chosen token on a side, counted in words or tokens.
FoundToken token_named(const Side& side, const ViewChoice& choice, Field field = {"token"});

double largest_of(std::span<const float> weights);  // 0 if there is none
ColorScale scale_to(double largest);                // from 0; to 1 if there is nothing
Json metadata_of(const Run& run, const Frame& frame, HeadChoice head, const ColorScale& scale);

}  // namespace fovea
