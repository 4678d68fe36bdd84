// One map as a figure shows it: its cells, and the columns that are not among them.
#pragma once

#include <optional>
#include <vector>

#include "fovea/atlas/map_survey.h"
#include "fovea/figure/sinks.h"
#include "fovea/figure/view_frame.h"

namespace fovea {

struct ShownMap {
  MergedMap map;
  GreyColumns grey;
  std::vector<double> column_sums;  // of the whole map; empty where nobody asked
  std::optional<MapSurvey> survey;  // of a whole map of one head
  RecordPointer record;             // what the cells are of: rows may be divided by the rest
};

// `is_long`: sinks and special tokens, as far as figures draw them apart, are left out of the
// cells. Throws Error{kUnsupported} about the field for a maximum of heads whose columns should be
// hidden.
ShownMap shown_map(const Frame& frame, HeadChoice head, const ViewChoice& choice, bool is_long,
                   SurveyDistances distances);

// What the mean of rows gives a column: one number for each group of rows.
std::vector<float> column_by_rows(const ShownMap& shown, HeadChoice head, int64_t column,
                                  const std::vector<PositionGroup>& rows);

// Throws Error{kInvalidArgument} where nothing is left of the columns that a figure would show.
void refuse_all_hidden(const std::vector<PositionGroup>& shown, const std::vector<int64_t>& hidden);

// Which columns a short figure leaves out: those that any of the maps hides.
std::vector<int64_t> hidden_columns(const Run& run, const std::vector<RecordPointer>& records,
                                    const std::vector<HeadChoice>& heads, const ViewChoice& choice);

// " · drawn apart in grey: …", " · hidden: … · rows divided by the rest"; empty where there is
// none.
std::string grey_note(const GreyColumns& grey, const ViewChoice& choice);
// "apart" and "hidden": each column with its share.
void set_grey(Json& metadata, const GreyColumns& grey);
// "43 % hidden", "43 % hidden, rows divided by the rest".
std::string hidden_badge(double share, const ViewChoice& choice);

}  // namespace fovea
