// The changes that a question asks for: positions hidden or blank, edges cut, heads silenced,
// scaled or made even.
#pragma once

#include <string>
#include <vector>

#include "fovea/ask/field.h"
#include "fovea/ask/finished_run.h"
#include "fovea/ask/question.h"
#include "fovea/base/json.h"
#include "fovea/capture/subject.h"

namespace fovea {

// The fields hide, hide_at, blank, blank_at, cut, silence, scale_head, even, zero_value; each is a
// list. A position is named as in `token`. An edge is ROW:COLUMN, or ROW:COLUMN@PLACE to cut it in
// one layer or head only. The place of a head is LAYER.HEAD, that of a layer LAYER; both may begin
// with a site: "cross.5.3".
std::vector<FieldInfo> change_fields();

struct AskedChanges {
  std::vector<Intervention> all;
  std::vector<std::string> said;  // one for each, for a caption: "John (9) hidden"
  Json facts = Json::array();     // the changes, for programs
  std::vector<std::string> notes;
};

// Reads the changes of a question. If a place names no site, it is `kind`. Throws
// Error{kInvalidArgument} about the field for a position, layer or head that the run does not have.
AskedChanges asked_changes(const Question& question, const FinishedRun& run, SiteKind kind);

}  // namespace fovea
