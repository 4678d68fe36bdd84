// Questions about a captured run: the model is not there, so that records, axes and rules tell.
#include <fmt/ranges.h>

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/capture/run_file.h"
#include "fovea/cli/explain/question.h"
#include "fovea/cli/method_options.h"
#include "fovea/cli/site_options.h"
#include "fovea/explain/pictures/picture_axis.h"
#include "fovea/figure/picture_view.h"
#include "fovea/vision/seen_part.h"

namespace fovea {
namespace {

// In the order of the records.
std::vector<SiteKind> kinds_in(const Run& run) {
  std::vector<SiteKind> kinds;
  for (const auto& record : run.records) {
    if (std::ranges::count(kinds, record->site.kind) == 0) kinds.push_back(record->site.kind);
  }
  return kinds;
}

SiteKind site_in(const Args& args, const Run& run, const std::vector<SiteKind>& kinds) {
  const SiteKind kind = *site_kind(args);
  if (std::ranges::count(kinds, kind) > 0) return kind;
  // One tower alone has nothing to tell it from.
  const bool picture =
      std::ranges::any_of(run.axes, [](const Axis& axis) { return axis.name == "patches"; });
  if (kind == SiteKind::kVisionSelf && picture && std::ranges::count(kinds, SiteKind::kSelf) > 0) {
    return SiteKind::kSelf;
  }
  std::vector<std::string> names;
  for (const SiteKind each : kinds) names.emplace_back(name_of(each));
  fail(ErrorKind::kInvalidArgument, "--site is {} but the run holds only {}; choose another",
       args["site"], fmt::join(names, " and "));
}

// As a model of the same attentions would be asked.
SiteKind kind_in(const Args& args, const Run& run, const Method& method) {
  const std::vector<SiteKind> kinds = kinds_in(run);
  const auto holds = [&](SiteKind kind) { return std::ranges::count(kinds, kind) > 0; };
  if (kinds.empty()) return SiteKind::kSelf;
  if (args.has("site")) return site_in(args, run, kinds);
  if (holds(SiteKind::kCross) && holds(SiteKind::kEncoderSelf)) {
    return method.needs.one_stack ? SiteKind::kEncoderSelf : SiteKind::kCross;
  }
  if (!holds(SiteKind::kPool) || method.needs.one_stack) return kinds.front();
  const Axis& patches = columns_of(run, SiteKind::kPool);
  const bool nothing_in_front = patches.grid_rows > 0 && PictureAxis::of(patches).specials == 0;
  const bool names_row = args.has("token") || args.has("layer");
  return nothing_in_front && !names_row ? SiteKind::kPool : kinds.front();
}

// Without --method the one through all layers, where there are layers to go through.
Method method_for(const Args& args, const Run& run) {
  if (args.has("method")) return chosen_methods(args).front();
  const bool stacks = std::ranges::any_of(
      run.records, [](const auto& record) { return is_self_attention(record->site.kind); });
  return method_named(stacks ? "rollout" : "raw");
}

// The small copy that the run keeps, under the grid of the columns.
std::optional<PictureInput> picture_in(const Run& run, SiteKind kind) {
  const Axis& columns = columns_of(run, kind);
  if (run.picture.empty() || columns.grid_rows == 0) return {};
  Picture picture = picture_of(run);
  const PictureSize size = picture.size();
  return PictureInput{.picture = std::move(picture),
                      .grid = grid_over(size, columns.grid_rows, columns.grid_cols)};
}

}  // namespace

void check_run_args(const GivenInput& given, const Args& args) {
  for (const char* name : {"check", "compare"}) {
    if (args.flag(name)) {
      fail(ErrorKind::kInvalidArgument,
           "--{} runs the model again but '{}' is a captured run, which holds maps alone; give the "
           "text or picture itself",
           name, given.value);
    }
  }
  for (const char* name : {"model", "size", "pair", "target", "from", "to"}) {
    if (args.has(name)) {
      fail(ErrorKind::kInvalidArgument,
           "--{} is for running a model but '{}' is a captured run; leave it out", name,
           given.value);
    }
  }
  if (args["dtype"] != "f32") {
    fail(ErrorKind::kInvalidArgument,
         "--dtype is for running a model but '{}' is a captured run; leave it out", given.value);
  }
  if (args.has("at")) {
    fail(ErrorKind::kInvalidArgument,
         "--at is a pixel of a picture file but '{}' is a captured run; name a patch with --token "
         "\"patch 3,7\"",
         given.value);
  }
}

ExplainQuestion read_run_question(const GivenInput& given, const Args& args) {
  ExplainQuestion question;
  question.result.run = load_run(given.value);
  const Run& run = question.result.run;
  question.method = method_for(args, run);
  question.parameters = parameters_for(args, question.method);
  question.kind = kind_in(args, run, question.method);
  check_needs(question.method, {.run = run, .kind = question.kind});
  refuse_what_is_not_asked(args, question);
  set_layer_and_head(args, question);
  question.picture = picture_in(run, question.kind);
  set_position(args, question);
  return question;
}

}  // namespace fovea
