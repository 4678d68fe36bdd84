// What belongs to no folder's classes: the version and threads.
#include <nanobind/stl/string.h>

#include <algorithm>

#include "fovea/base/team.h"
#include "fovea/base/version.h"
#include "python/native/modules.h"

namespace fovea::python {
namespace {

constexpr int64_t kMostThreads = 1024;  // more only cost memory

}  // namespace

void bind_base(nb::module_& module) {
  using namespace nb::literals;
  module.def("version", [] { return std::string(version()); });
  module.def("thread_count", [] { return thread_count(); });
  module.def(
      "set_thread_count",
      [](int64_t count) {
        set_thread_count(static_cast<int>(std::clamp<int64_t>(count, 0, kMostThreads)));
      },
      "count"_a);
}

}  // namespace fovea::python
