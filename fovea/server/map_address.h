// Which map an address names: a run, a site, a layer and a head, and what of it.
#pragma once

#include <memory>
#include <string_view>

#include "fovea/server/resource.h"
#include "fovea/server/run_shelf.h"

namespace fovea {

struct AddressedMap {
  std::shared_ptr<OpenRun> run;
  ServedMap choice;
};

// Reads {hash}, {site}, {layer}, {head} and the query's "of". Throws HttpProblem for a run that is
// not there, and Error about the field for others.
AddressedMap addressed_map(const Call& call);
// The same of a run that is known.
ServedMap addressed_choice(const Call& call);

// A position in an address. Throws Error{kNotFound} with the range.
int64_t addressed_position(const Call& call, std::string_view name, int64_t count);

}  // namespace fovea
