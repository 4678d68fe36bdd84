#include "fovea/cli/evaluate/objects.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/progress.h"
#include "fovea/cli/picture_options.h"

namespace fovea {

double threshold_of(const Args& args) {
  const double threshold = args.has("threshold") ? args.real("threshold") : 0.7;
  if (!(threshold <= 1)) {
    fail(ErrorKind::kInvalidArgument, "--threshold is {} but a score is 0 to 1", args["threshold"]);
  }
  return threshold;
}

void for_each_detection(const Args& args, const Engine& engine,
                        const std::vector<TruthFiles>& files, double threshold,
                        const std::function<void(const TruthFiles&, const DetectRun&)>& visit) {
  Progress progress("evaluating", static_cast<int64_t>(files.size()));
  for (const TruthFiles& picture : files) {
    DetectRun run{.args = args,
                  .engine = engine,
                  .input = read_picture_input(engine, picture.picture, picture_size(args)),
                  .threshold = threshold};
    run.result =
        engine.run(run.input.input, {.record = {.values = false}, .logits = LogitRows::kAll});
    run.objects = found_objects(engine, run.result, run.input.picture.size(), threshold);
    visit(picture, run);
    progress.advance();
  }
}

int64_t label_index(const Engine& engine, const std::string& name) {
  const std::vector<std::string> labels = engine.labels();
  const auto found = std::ranges::find(labels, name);
  return found == labels.end() ? -1 : found - labels.begin();
}

}  // namespace fovea
