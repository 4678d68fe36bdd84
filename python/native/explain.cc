// What the methods of explaining say about themselves.
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "fovea/explain/method.h"
#include "python/native/modules.h"

namespace fovea::python {

void bind_explain(nb::module_& module) {
  nb::class_<MethodParameter>(module, "MethodParameter", "A setting of a method.")
      .def_ro("name", &MethodParameter::name)
      .def_ro("help", &MethodParameter::help)
      .def_ro("otherwise", &MethodParameter::otherwise)
      .def_ro("choices", &MethodParameter::choices)
      .def_ro("least", &MethodParameter::least)
      .def_ro("most", &MethodParameter::most);
  nb::class_<Method>(module, "Method", "A method that explains an answer of a model.")
      .def_ro("name", &Method::name)
      .def_ro("summary", &Method::summary)
      .def_ro("answers", &Method::answers)
      .def_ro("cost", &Method::cost)
      .def_ro("parameters", &Method::parameters)
      .def_ro("scores_heads", &Method::scores_heads);
  module.def("methods", [] { return all_methods(); });
}

}  // namespace fovea::python
