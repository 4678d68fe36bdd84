// The classes that both modules know, and who binds what.
#pragma once

#include <memory>
#include <optional>

#include "fovea/ask/session.h"
#include "fovea/atlas/attention_map.h"
#include "python/native/base.h"

namespace fovea::python {

// A map and what it is computed from.
struct HeadMap {
  std::shared_ptr<const AttentionRecord> record;
  AttentionMap map;
};

// An answer, with the question that it answers and the session that was asked; none: it was asked
// of many inputs.
struct Answered {
  std::optional<Session> session;
  Question question;
  Answer answer;
};

void bind_base(nb::module_& module);
void bind_atlas(nb::module_& module);
void bind_explain(nb::module_& module);
void bind_engine(nb::module_& module);
void bind_ask(nb::module_& module);
void bind_many(nb::module_& module);
void bind_checkpoint(nb::module_& module);
void bind_render(nb::module_& module);
void bind_cli(nb::module_& module);

}  // namespace fovea::python
