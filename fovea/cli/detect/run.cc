#include "fovea/cli/detect/run.h"

#include <fmt/format.h>

#include <utility>

#include "fovea/base/error.h"
#include "fovea/cli/model_options.h"
#include "fovea/cli/picture_options.h"

namespace fovea {

std::shared_ptr<const DetectorRun> run_detector(const Args& args, bool positions) {
  static std::pair<std::string, std::shared_ptr<const DetectorRun>> last;
  const std::string key =
      fmt::format("{}\n{}\n{}\n{}\n{}", model_name(args, kDefaultDetectionModel), args["FILE"],
                  args.has("size") ? args["size"] : "", args["dtype"], positions);
  if (last.second != nullptr && last.first == key) return last.second;
  last = {};  // two large runs need not fit into memory
  Engine engine = open_engine(args, kDefaultDetectionModel);
  if (!engine.facts().finds_objects()) {
    fail(ErrorKind::kUnsupported, "{} finds no objects; fovea detect takes DETR models, {} say",
         engine.name(), kDefaultDetectionModel);
  }
  PictureInput input = read_picture_input(engine, args["FILE"], picture_size(args));
  RunResult result = engine.run(input.input, {.record = {.values = false, .positions = positions},
                                              .logits = LogitRows::kAll});
  print_warnings(result.warnings);
  last = {key, std::make_shared<const DetectorRun>(
                   DetectorRun{std::move(engine), std::move(input), std::move(result)})};
  return last.second;
}

}  // namespace fovea
