// Models: opening them, and the sessions that they begin.
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "fovea/ask/session.h"
#include "fovea/base/error.h"
#include "fovea/engine/input_file.h"
#include "fovea/engine/model_info.h"
#include "python/native/modules.h"
#include "python/native/tensor.h"

namespace fovea::python {
namespace {

Engine opened(const std::string& name, const std::string& dtype) {
  if (dtype != "f32" && dtype != "i16") {
    fail(ErrorKind::kInvalidArgument, Field{"dtype"}, "'{}' is neither 'f32' nor 'i16'", dtype);
  }
  const EngineOptions options{.compute = dtype == "i16" ? DType::kI16 : DType::kF32};
  return watched([&] { return Engine::open(name, options); });
}

Session session_of(const Engine& engine, Input input) {
  // Values too: they are there to be looked at.
  return watched([&] { return Session::open(engine, std::move(input), {.values = true}); });
}

Session text_session(const Engine& engine, nb::handle fields) {
  return session_of(engine, parse_input(json_of(fields)));
}

Session picture_session(const Engine& engine, nb::bytes file, const std::string& name,
                        nb::handle fields) {
  Input input = parse_input(json_of(fields));
  input.what = PictureBytes{.bytes = std::string(file.c_str(), file.size()), .name = name};
  return session_of(engine, std::move(input));
}

Session tensor_session(const Engine& engine, const ArraysByName& arrays) {
  Input input;
  input.what = model_inputs_of(tensors_of(arrays), "the inputs");
  return session_of(engine, std::move(input));
}

}  // namespace

void bind_engine(nb::module_& module) {
  using namespace nb::literals;
  nb::class_<Engine>(module, "Model", "An open model.")
      .def_prop_ro("name", [](const Engine& self) { return self.name(); })
      .def_prop_ro("architecture", [](const Engine& self) { return self.architecture().name; })
      .def_prop_ro("hash",
                   [](const Engine& self) { return watched([&] { return self.model_hash(); }); })
      .def_prop_ro("labels", [](const Engine& self) { return self.labels(); })
      .def("info",
           [](const Engine& self) {
             return to_python(watched([&] { return to_json(model_info(self)); }));
           })
      .def("text", &text_session, "fields"_a)
      .def("picture", &picture_session, "file"_a, "name"_a, "fields"_a)
      .def("tensors", &tensor_session, "arrays"_a);
  module.def("open_model", &opened, "name"_a, "dtype"_a);
}

}  // namespace fovea::python
