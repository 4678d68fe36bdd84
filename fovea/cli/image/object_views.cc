// Views of one object that nobody trained the model to find. LOST: an object around the patch that
// is similar to the fewest others. TokenCut: one side of the cheapest cut through the graph of
// similar patches.
#include <fmt/format.h>

#include "fovea/cli/image/found_objects.h"
#include "fovea/cli/image/object.h"
#include "fovea/cli/image/parts.h"
#include "fovea/cli/model_options.h"
#include "fovea/render/picture_view.h"

namespace fovea {
namespace {

constexpr double kTrusted = 1e-6;  // of the solver's residual, as token_cut.h says

// `object` in its method's words, with what was found.
template <typename Found>
Content found_content(const ImageRun& run, Found found, FoundObject object) {
  object.site = picture_record(run.result.run, one_layer(run.args))->site;
  object.seed = found.seed;
  object.foreground = std::move(found.foreground);
  object.mask = std::move(found.mask);
  object.box = found.box;
  return object_content(run, object);
}

Content make_lost(const ImageRun& run) {
  LostObject found = find_lost(run.result.run, one_layer(run.args));
  FoundObject object{.method = "LOST",
                     .map = "similar patches",
                     .seed_rule = "whose key is similar to the fewest others",
                     .rule = "similar to the seed and to those like it",
                     .values = {found.degrees.begin(), found.degrees.end()}};
  return found_content(run, std::move(found), std::move(object));
}

Content make_token_cut(const ImageRun& run) {
  TokenCutObject found = find_token_cut(run.result.run, one_layer(run.args));
  if (found.residual > kTrusted) {
    print_warnings(
        {fmt::format("the eigenvector is not exact (residual {:.1e}): the picture parts "
                     "in no clear way",
                     found.residual)});
  }
  FoundObject object{.method = "TokenCut",
                     .map = "eigenvector",
                     .seed_rule = "the largest entry of the cut's eigenvector",
                     .rule = "entries above the mean",
                     .values = std::move(found.eigenvector)};
  return found_content(run, std::move(found), std::move(object));
}

ImageView object_view_of(std::string name, std::string method, Content (*make)(const ImageRun&)) {
  return {.name = std::move(name),
          .summary = fmt::format("one object by {}, with its mask and box", method),
          .options = {"layer", "mask-out"},
          .check = [](const Args& args) { one_layer(args); },
          .make = make};
}

}  // namespace

ImageView image_lost_view() {
  return object_view_of("lost", "LOST", make_lost);
}

ImageView image_tokencut_view() {
  return object_view_of("tokencut", "TokenCut", make_token_cut);
}

}  // namespace fovea
