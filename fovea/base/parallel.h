// Loops over all cores.
#pragma once

#include <cstdint>
#include <functional>

#include "fovea/base/team.h"

namespace fovea {

// Calls body(i) once for every i in [0, count), in any order, from the threads of the team. Looks
// at the cancel scope before each. The first exception of a body is thrown again here; bodies not
// yet started are then skipped.
void parallel_for(int64_t count, const std::function<void(int64_t)>& body);

}  // namespace fovea
