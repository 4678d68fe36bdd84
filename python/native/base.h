// What every file of the Python package's modules uses: errors, JSON and watched work.
#pragma once

#include <nanobind/nanobind.h>

#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

#include "fovea/base/json.h"

namespace fovea::python {

namespace nb = nanobind;

// Turns the library's errors into the exceptions of the one table (answer_to).
void register_errors();

nb::any to_python(const Json& json);
// An object whose type stubs do not tell.
inline nb::any untyped(const nb::object& value) {
  return nb::borrow<nb::any>(value);
}
// Throws Error{kInvalidArgument} for what JSON does not hold.
Json json_of(nb::handle value);

// Does long work without Python's lock, so that Ctrl-C ends it and a listener hears its progress:
// another thread works, and this one looks for signals and tells the listener of its context
// (fovea/_progress.py). Throws what the work throws, or what the signal's handler or the listener
// raised.
void watched_work(const std::function<void()>& work);

// The same, and returns the result.
template <typename Work>
auto watched(const Work& work) -> decltype(work()) {
  if constexpr (std::is_void_v<decltype(work())>) {
    watched_work(work);
  } else {
    std::optional<decltype(work())> result;
    watched_work([&] { result.emplace(work()); });
    return *std::move(result);
  }
}

// For work of milliseconds: without the lock too, but on this thread.
template <typename Work>
auto at_once(const Work& work) -> decltype(work()) {
  const nb::gil_scoped_release unlocked;
  return work();
}

}  // namespace fovea::python
