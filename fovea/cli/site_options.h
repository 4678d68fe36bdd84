// Which attention the user means: --site.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>

#include "fovea/capture/site.h"
#include "fovea/cli/command.h"

namespace fovea {

// The option --site: the alias of a kind, or its name.
Option site_option(std::string help, std::initializer_list<SiteKind> left_out = {});
// The kind that --site names; none if it is not given.
std::optional<SiteKind> site_kind(const Args& args);
// Whether --site is an attention that only models with an encoder and a decoder have.
bool names_two_stacks(const Args& args);

}  // namespace fovea
