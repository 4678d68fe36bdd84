#include "fovea/cli/image/page.h"

#include <fmt/format.h>

#include "fovea/base/error.h"
#include "fovea/cli/map_options.h"
#include "fovea/cli/picture_options.h"
#include "fovea/cli/terminal.h"
#include "fovea/explain/pictures/picture_axis.h"
#include "fovea/render/picture_view.h"

namespace fovea {
namespace {

// What is sent by mail without a second thought; a page of one's own choice may be larger.
constexpr uint64_t kComfortableBytes = 24'000'000;

bool is_picture_site(const AttentionRecord& record) {
  return record.site.kind == SiteKind::kSelf || record.site.kind == SiteKind::kVisionSelf;
}

}  // namespace

void check_image_page(const Args& args) {
  for (const char* name : {"mask", "json", "text", "without-artifacts"}) {
    if (args.has(name)) {
      fail(ErrorKind::kInvalidArgument,
           "--{} does not go with a page, which shows maps to move through; leave one out", name);
    }
  }
  if (args.has("view") && args["view"] != "maps") {
    fail(ErrorKind::kInvalidArgument,
         "--view is {} but a page shows maps; write it as .png or leave --view out", args["view"]);
  }
}

void write_image_page(const ImageRun& run) {
  const Args& args = run.args;
  PageOptions options;
  if (args.has("layer")) options.choice.layer = args.integer("layer");
  if (args.has("head")) options.choice.head = parse_head(args["head"]);
  options.choice.column = args.flag("column");
  if (args.has("at")) {
    const int64_t front = PictureAxis::of(picture_axis(run.result.run)).specials;
    options.choice.token = fmt::format("#{}", front + patch_at(run.input, args["at"]));
  } else if (args.has("token")) {
    options.choice.token = args["token"];
  } else if (options.choice.column) {
    options.choice.token = "#0";
  }
  int last = 0, layers = 0;
  for (const auto& record : run.result.run.records) {
    if (!is_picture_site(*record)) continue;
    options.opens_at = record->site.kind;
    last = std::max(last, record->site.layer);
    ++layers;
  }
  if (options.choice.layer) options.choice.kind = options.opens_at;
  const uint64_t bytes = page_bytes_estimate(run.result.run, options);
  const bool one_layer = !options.choice.layer && layers > 1 && bytes > kComfortableBytes;
  if (one_layer) {
    options.choice.kind = options.opens_at;
    options.choice.layer = last;
  }
  write_run_page(run.result.run, args, options);
  if (one_layer) {
    write_stdout(fmt::format(
        "it holds layer {} alone, for all {} would take about {} MB; --layer N chooses another\n",
        last, layers, bytes / 1'000'000));
  }
}

}  // namespace fovea
