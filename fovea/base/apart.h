// Large pieces of work beside each other. Each runs on one thread from its beginning to its end, so
// that no loop within it waits for another thread: what waits most, on a busy machine above all.
#pragma once

#include <cstdint>
#include <functional>

namespace fovea {

// Calls body(i) once for every i in [0, count), on as many threads as thread_count() says; loops
// and products within use one. All bodies run, unless they are cancelled; then the exception of the
// first that failed is thrown.
void run_apart(int64_t count, const std::function<void(int64_t)>& body);

}  // namespace fovea
