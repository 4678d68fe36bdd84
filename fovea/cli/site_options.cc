#include "fovea/cli/site_options.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/capture/site.h"

namespace fovea {

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

}  // namespace fovea
