#include "fovea/cli/site_options.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/capture/site.h"
#include "fovea/cli/picture_options.h"
#include "fovea/explain/pictures/picture_axis.h"
#include "fovea/figure/view.h"

namespace fovea {
namespace {

// Which pixels of the file a patch shows: "pixels 56 to 63 across, 96 to 103 down".
std::string pixels_text(const PictureInput& picture, int64_t patch) {
  const PictureRectangle part = picture.grid.rectangle(patch);
  const auto range = [](double from, double to) {
    return fmt::format("{:.0f} to {:.0f}", std::floor(from),
                       std::max(std::floor(from), std::ceil(to) - 1));
  };
  return fmt::format("pixels {} across, {} down", range(part.left, part.right),
                     range(part.top, part.bottom));
}

}  // namespace

Option site_option(std::string help, std::initializer_list<SiteKind> left_out) {
  std::vector<std::string> choices;
  std::map<std::string, std::string> names;
  for (const SiteName& site : site_names()) {
    if (std::ranges::count(left_out, site.kind) > 0) continue;
    choices.emplace_back(site.alias);
    if (site.name != site.alias) names.emplace(site.name, site.alias);
  }
  return Option::choice("site", choices,
                        std::move(help) + " (encoder_self and the like are taken too)")
      .with_aliases(std::move(names));
}

std::optional<SiteKind> site_kind(const Args& args) {
  if (!args.has("site")) return {};
  return parse_site_kind(args["site"]);
}

bool names_two_stacks(const Args& args) {
  const auto kind = site_kind(args);
  return kind == SiteKind::kEncoderSelf || kind == SiteKind::kDecoderSelf ||
         kind == SiteKind::kCross;
}

SiteKind chosen_site(const Args& args, const Engine& engine, bool sees_picture) {
  const ModelFacts& facts = engine.facts();
  const std::vector<SiteKind> sites = sites_of(facts, sees_picture);
  if (!args.has("site")) {
    // Without a token in front of the patches, the pooling head is what looks at all of them.
    const bool names_row = args.has("at") || args.has("token") || args.has("layer");
    return sites.back() == SiteKind::kPool && facts.picture->front_tokens.empty() && !names_row
               ? SiteKind::kPool
               : sites.front();
  }
  return site_taken(*site_kind(args), engine, sees_picture);
}

bool gives_pixels(const Args& args, const Engine& engine) {
  const ModelFacts& facts = engine.facts();
  const auto kind = site_kind(args);
  const bool says_so = kind == SiteKind::kVisionSelf || kind == SiteKind::kPool;
  return args.has("inputs") && facts.takes_pixels() && (!facts.takes_text() || says_so);
}

void check_row_options(const Args& args, const Engine& engine, bool sees_picture) {
  if (!args.has("at")) return;
  parse_pixel(args["at"]);
  if (args.has("token")) {
    fail(ErrorKind::kInvalidArgument,
         "--at chooses a patch and --token another row; leave one out");
  }
  if (!sees_picture) {
    fail(ErrorKind::kInvalidArgument,
         "--at is a pixel of a picture but {} is given a text; choose a word with --token",
         engine.name());
  }
}

void check_layer(const Args& args, const Engine& engine, SiteKind kind) {
  if (!args.has("layer") || args["layer"] == "all") return;
  check_layer(parse_integer("--layer", args["layer"]), engine, kind);
}

void check_head(const Args& args, const Engine& engine, SiteKind kind) {
  if (!args.has("head")) return;
  check_head(parse_head(args["head"]), engine, kind);
}

FoundToken chosen_patch(const Args& args, const PictureInput& picture, const Axis& rows,
                        const Engine& engine) {
  const int64_t front = rows.grid_rows > 0 ? PictureAxis::of(rows).specials : 0;
  FoundToken found;
  if (args.has("at")) {
    if (rows.grid_rows == 0) {
      fail(ErrorKind::kInvalidArgument,
           "--at is {} but these rows are {}, no part of the picture; leave --at out, or choose "
           "another --site",
           args["at"], rows.name == "pool" ? "one pooling head" : rows.name);
    }
    found.index = front + patch_at(picture, args["at"]);
  } else if (args.has("token")) {
    found = token_named(rows, args["token"]);
  } else if (rows.grid_rows > 0 && front == 0) {
    fail(ErrorKind::kInvalidArgument,
         "{} has no token in front of its patches to look from; choose a patch with --at X,Y",
         engine.name());
  }
  if (rows.grid_rows > 0 && found.index >= front) {
    if (!found.note.empty()) found.note += " · ";
    found.note += pixels_text(picture, found.index - front);
  }
  return found;
}

}  // namespace fovea
