#include "fovea/cli/site_options.h"

#include <fmt/ranges.h>

#include <cmath>

#include "fovea/base/error.h"
#include "fovea/cli/picture_options.h"

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

std::vector<SiteName> sites_of(const ModelFacts& facts, bool sees_picture) {
  if (facts.finds_objects()) {
    return {{"encoder", SiteKind::kEncoderSelf},
            {"cross", SiteKind::kCross},
            {"decoder", SiteKind::kDecoderSelf}};
  }
  if (facts.has_decoder()) {
    return {{"cross", SiteKind::kCross},
            {"encoder", SiteKind::kEncoderSelf},
            {"decoder", SiteKind::kDecoderSelf}};
  }
  const bool towers = facts.has_text_tower();
  if (!sees_picture) {
    return {towers ? SiteName{"text", SiteKind::kTextSelf} : SiteName{"self", SiteKind::kSelf}};
  }
  std::vector<SiteName> sites{towers ? SiteName{"vision", SiteKind::kVisionSelf}
                                     : SiteName{"self", SiteKind::kSelf}};
  if (facts.pools_by_attention) sites.push_back({"pool", SiteKind::kPool});
  return sites;
}

SiteKind chosen_site(const Args& args, const Engine& engine, bool sees_picture) {
  const ModelFacts& facts = engine.facts();
  const std::vector<SiteName> sites = sites_of(facts, sees_picture);
  if (!args.has("site")) {
    // Without a token in front of the patches, the pooling head is what looks at all of them.
    const bool names_row = args.has("at") || args.has("token") || args.has("layer");
    return sites.back().kind == SiteKind::kPool && facts.front_tokens.empty() && !names_row
               ? SiteKind::kPool
               : sites.front().kind;
  }
  std::vector<std::string> names;
  for (const SiteName& site : sites) {
    // One tower alone has nothing to tell it from.
    if (args["site"] == site.name ||
        (args["site"] == "vision" && site.kind == SiteKind::kSelf && sees_picture)) {
      return site.kind;
    }
    names.push_back(site.name);
  }
  fail(ErrorKind::kInvalidArgument, "--site is {} but {} has {} on {}; choose {}", args["site"],
       engine.name(), sites.size() == 1 ? "only one" : fmt::format("{}", sites.size()),
       sees_picture ? "a picture" : "a text", fmt::join(names, " or "));
}

bool gives_pixels(const Args& args, const Engine& engine) {
  const ModelFacts& facts = engine.facts();
  const bool says_so = args.has("site") && (args["site"] == "vision" || args["site"] == "pool");
  return args.has("inputs") && facts.takes_pixels && (!facts.takes_text() || says_so);
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

int64_t front_positions(const Axis& axis) {
  return static_cast<int64_t>(axis.positions.size()) - axis.grid_rows * axis.grid_cols;
}

FoundToken chosen_patch(const Args& args, const PictureInput& picture, const Axis& rows,
                        const Engine& engine) {
  const int64_t front = front_positions(rows);
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
    found = find_token(rows, args["token"]);
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
