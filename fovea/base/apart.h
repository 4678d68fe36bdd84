// Runs large pieces of work side by side, each on one thread from start to end. The loops inside a
// piece then never wait for another thread. On a busy machine that wait costs the most time.
#pragma once

#include <cstdint>
#include <functional>

namespace fovea {

// Calls body(i) once for every i in [0, count), on thread_count() threads. Loops and matrix
// products inside a body use one thread. If a body throws, the others still run; then the exception
// with the smallest i is thrown again. Cancelling skips the bodies that have not begun.
void run_apart(int64_t count, const std::function<void(int64_t)>& body);

}  // namespace fovea
