// The module that computes. It draws nothing, so that nothing for drawing must be there.
#include "python/native/modules.h"

NB_MODULE(_core, module) {
  // What is alive when Python ends goes with the process; nobody need hear of it.
  nanobind::set_leak_warnings(false);
  module.doc() = "The engine below the package: models, runs, maps, questions.";
  fovea::python::register_errors();
  fovea::python::bind_base(module);
  fovea::python::bind_checkpoint(module);
  fovea::python::bind_explain(module);
  fovea::python::bind_engine(module);
  fovea::python::bind_atlas(module);
  fovea::python::bind_ask(module);
  fovea::python::bind_many(module);
}
