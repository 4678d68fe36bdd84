// Loops that use all threads of the team (team.h).
#pragma once

#include <cstdint>
#include <functional>

#include "fovea/base/team.h"

namespace fovea {

// Calls body(i) once for every i in [0, count), in any order, from the threads of the team. Looks
// at the cancel scope before each call. If a body throws, bodies that have not begun are skipped,
// and the first exception is thrown again here.
void parallel_for(int64_t count, const std::function<void(int64_t)>& body);

}  // namespace fovea
