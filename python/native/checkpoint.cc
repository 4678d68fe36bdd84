// Where models lie, and what there is.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "fovea/checkpoint/resolve.h"
#include "fovea/engine/model_info.h"
#include "python/native/modules.h"

namespace fovea::python {

void bind_checkpoint(nb::module_& module) {
  using namespace nb::literals;
  module.def(
      "set_bundled_models", [](const std::string& folder) { set_bundled_models(folder); },
      "folder"_a);
  nb::class_<LocalModel>(module, "LocalModel", "A model that is at hand.")
      .def_ro("name", &LocalModel::name)
      .def_ro("folder", &LocalModel::place)
      .def_ro("model_type", &LocalModel::model_type)
      .def_ro("supported", &LocalModel::supported);
  module.def("local_models",
             [] { return watched([] { return local_models(ModelCaches::from_environment()); }); });
}

}  // namespace fovea::python
