// The module that draws, loaded at the first figure. It holds the program too.
#include "python/native/modules.h"

NB_MODULE(_drawing, module) {
  // What is alive when Python ends goes with the process; nobody need hear of it.
  nanobind::set_leak_warnings(false);
  module.doc() = "Drawing figures, saved pages, and the program.";
  fovea::python::register_errors();
  fovea::python::bind_render(module);
  fovea::python::bind_cli(module);
}
