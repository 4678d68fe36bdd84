// Which attention the user means, and which of its rows: --site, --at and --token.
#pragma once

#include <string>
#include <vector>

#include "fovea/cli/command.h"
#include "fovea/engine/picture_input.h"
#include "fovea/render/words.h"

namespace fovea {

struct SiteName {
  std::string name;  // of --site
  SiteKind kind;
};

// The attentions that the model goes through on such an input, the most telling first.
std::vector<SiteName> sites_of(const ModelFacts& facts, bool sees_picture);

// --site; without it the first, or the pooling head where nothing else looks at the whole picture.
// Throws Error{kInvalidArgument} that lists them.
SiteKind chosen_site(const Args& args, const Engine& engine, bool sees_picture);

// Whether --inputs are pixels: told by the model, or where it reads texts too by --site.
bool gives_pixels(const Args& args, const Engine& engine);

// Throws Error{kInvalidArgument} if --at and --token are both given, or --at without a picture.
void check_row_options(const Args& args, const Engine& engine, bool sees_picture);

// How many positions stand before the first patch.
int64_t front_positions(const Axis& axis);

// The row of a picture: --at, --token, or what comes in front of the patches. The note says which
// pixels a patch shows. Throws Error{kInvalidArgument} if there is none.
FoundToken chosen_patch(const Args& args, const PictureInput& picture, const Axis& rows,
                        const Engine& engine);

}  // namespace fovea
