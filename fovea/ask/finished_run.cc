#include "fovea/ask/finished_run.h"

namespace fovea {

RunOptions run_options(const RunNeeds& needs, RecorderOptions record) {
  RunOptions options{.record = std::move(record)};
  options.record.values |= needs.blocks;
  options.record.block |= needs.blocks;
  options.record.positions |= needs.positions;
  if (needs.records == KeptRecords::kFirstLayers) {
    options.record.wanted = [](SiteId site) { return site.layer == 0; };
  }
  options.record.outputs |= needs.outputs;
  options.logits = needs.logits();
  return options;
}

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
