// The program itself, and its drawings for a terminal.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "fovea/cli/cli.h"
#include "fovea/cli/interrupt.h"
#include "fovea/cli/show.h"
#include "python/native/modules.h"

namespace fovea::python {

void bind_cli(nb::module_& module) {
  using namespace nb::literals;
  module.def(
      "run_program",
      [](const std::vector<std::string>& arguments) {
        install_signal_handlers();  // the process is the program from here on
        return at_once([&] { return run_cli(arguments); });
      },
      "arguments"_a, "Runs the program; returns its exit code.");
  module.def(
      "text_of",
      [](const Answered& answered, int width, bool colored) {
        const Terminal terminal{.width = width,
                                .colors = colored ? ColorMode::kTrue : ColorMode::kNone};
        return watched([&] { return drawn(answered.answer.figure, terminal); });
      },
      "answer"_a, "width"_a, "colored"_a);
}

}  // namespace fovea::python
