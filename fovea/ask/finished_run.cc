#include "fovea/ask/finished_run.h"

namespace fovea {

RunSort OpenedInput::sort() const {
  if (!picture) return RunSort::kText;
  return engine.facts().finds_objects() ? RunSort::kObjects : RunSort::kPicture;
}

RunSort FinishedRun::sort() const {
  if (opened) return opened->sort();
  if (run().find_axis("queries") != nullptr) return RunSort::kText;
  const Axis* patches = run().find_axis("patches");
  const bool picture = !run().picture.empty() && patches != nullptr && patches->grid_rows > 0;
  return picture ? RunSort::kPicture : RunSort::kText;
}

}  // namespace fovea
