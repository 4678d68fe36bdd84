#include "fovea/cli/gallery/examples.h"

#include "fovea/base/error.h"

namespace fovea {

Example find_example(std::string_view name) {
  for (const Example& example : all_examples()) {
    if (example.name == name) return example;
  }
  fail(ErrorKind::kInternal, "the example {} is not in the program; please report this", name);
}

}  // namespace fovea
