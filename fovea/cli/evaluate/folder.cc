#include "fovea/cli/evaluate/folder.h"

#include "fovea/base/error.h"
#include "fovea/base/progress.h"
#include "fovea/cli/model_options.h"
#include "fovea/cli/picture_options.h"
#include "fovea/cli/site_options.h"
#include "fovea/explain/pictures/mass_mask.h"
#include "fovea/figure/picture_view.h"

namespace fovea {

EvaluationOptions evaluation_options(const Args& args, const Engine& engine) {
  EvaluationOptions options{.share = kMassShare};
  if (args.has("layer")) options.layer = args.integer("layer");
  if (args.has("mask")) options.share = args.real("mask");
  if (!(options.share > 0 && options.share <= 1)) {
    fail(ErrorKind::kInvalidArgument, "--mask is {} but a share of the mass is above 0 and up to 1",
         args["mask"]);
  }
  if (args.has("seed") && !args.flag("baseline")) {
    fail(ErrorKind::kInvalidArgument,
         "--seed is of random weights but --baseline is not given; give both or none");
  }
  check_layer(args, engine, sites_of(engine.facts(), /*sees_picture=*/true).front());
  return options;
}

void score_pictures(
    const Args& args, const Engine& engine, const std::vector<TruthFiles>& files,
    ScoreReport& report, const std::function<int64_t(const TruthFiles&, PictureSize)>& truth,
    const std::function<std::vector<double>(const PictureInput&, const Run&)>& score) {
  const EvaluationOptions options = evaluation_options(args, engine);
  std::vector<Engine> engines{engine};
  report.model = engine.name();
  report.columns = {"trained"};
  if (args.flag("baseline")) {
    const int64_t seed = args.has("seed") ? args.integer("seed") : 0;
    engines.push_back(engine.with_random_weights(static_cast<uint64_t>(seed)));
    report.columns.push_back("random weights");
  }
  std::vector<std::string> empty;
  Progress progress("evaluating", static_cast<int64_t>(files.size()));
  for (const TruthFiles& picture : files) {
    const PictureInput input = read_picture_input(engine, picture.picture, picture_size(args));
    ScoreReport::Picture line{.name = picture.name,
                              .objects = truth(picture, input.picture.size())};
    if (line.objects == 0) {
      empty.push_back(fmt::format("{} is skipped: no object is in it", picture.name));
      continue;
    }
    for (const Engine& each : engines) {
      const RunResult result = each.run(input.input, {.record = {.values = false}});
      report.layer = picture_record(result.run, options.layer)->site.layer;
      line.scores.push_back(score(input, result.run));
    }
    report.pictures.push_back(std::move(line));
    progress.advance();
  }
  print_warnings(empty);
  if (report.pictures.empty()) {
    fail(ErrorKind::kNotFound, "{}: no picture has an object; give others", args["DIR"]);
  }
}

}  // namespace fovea
