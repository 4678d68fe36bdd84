// What is changed in a run, as a question says it: positions hidden or blank, edges cut, heads
// silenced, scaled or made even.
#pragma once

#include <string>
#include <vector>

#include "fovea/ask/field.h"
#include "fovea/ask/finished_run.h"
#include "fovea/ask/question.h"
#include "fovea/base/json.h"
#include "fovea/capture/subject.h"

namespace fovea {

// hide, hide_at, blank, blank_at, cut, silence, scale_head, even, zero_value: a list each. A
// position is named as `token` names one. An edge is ROW:COLUMN, or ROW:COLUMN@PLACE where it is
// cut in one layer or head alone. A head's place is LAYER.HEAD, a layer's LAYER; both may begin
// with a site: "cross.5.3".
std::vector<FieldInfo> change_fields();

struct AskedChanges {
  std::vector<Intervention> all;
  std::vector<std::string> said;  // one for each, for a caption: "John (9) hidden"
  Json facts = Json::array();     // the same for programs
  std::vector<std::string> notes;
};

// Of the attention of that kind, where a place names no other. Throws Error{kInvalidArgument} about
// the field for a position, layer or head that the run does not have.
AskedChanges asked_changes(const Question& question, const FinishedRun& run, SiteKind kind);

}  // namespace fovea
