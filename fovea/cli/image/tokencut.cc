// TokenCut: an object as one side of the cheapest cut through the graph of similar patches.
#include <fmt/format.h>

#include "fovea/cli/image/found_objects.h"
#include "fovea/cli/image/object.h"
#include "fovea/cli/image/parts.h"
#include "fovea/cli/model_options.h"
#include "fovea/render/picture_view.h"

namespace fovea {
namespace {

constexpr double kTrusted = 1e-6;  // of the solver's residual, as token_cut.h says

Content make_token_cut(const ImageRun& run) {
  const std::optional<int64_t> layer = one_layer(run.args);
  TokenCutObject found = find_token_cut(run.result.run, layer);
  if (found.residual > kTrusted) {
    print_warnings(
        {fmt::format("the eigenvector is not exact (residual {:.1e}): the picture parts "
                     "in no clear way",
                     found.residual)});
  }
  FoundObject object{.method = "TokenCut",
                     .site = picture_record(run.result.run, layer)->site,
                     .map = "eigenvector",
                     .seed_rule = "the largest entry of the cut's eigenvector",
                     .rule = "entries above the mean",
                     .values = std::move(found.eigenvector),
                     .seed = found.seed,
                     .foreground = std::move(found.foreground),
                     .mask = std::move(found.mask),
                     .box = found.box};
  return object_content(run, object);
}

}  // namespace

ImageView image_tokencut_view() {
  return {.name = "tokencut",
          .summary = "one object by TokenCut, with its mask and box",
          .options = object_options(),
          .check = [](const Args& args) { one_layer(args); },
          .make = make_token_cut};
}

}  // namespace fovea
