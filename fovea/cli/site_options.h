// Which attention the user means, and what of it: --site, --layer, --head, --at and --token.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "fovea/ask/places.h"
#include "fovea/capture/words.h"
#include "fovea/cli/command.h"
#include "fovea/engine/picture_input.h"

namespace fovea {

// --site: by the alias of a kind, or by its name.
Option site_option(std::string help, std::initializer_list<SiteKind> left_out = {});
// What --site says; none where it is not given.
std::optional<SiteKind> site_kind(const Args& args);
// Whether --site is an attention that only models with an encoder and a decoder have.
bool names_two_stacks(const Args& args);

// --site; without it the first, or the pooling head where nothing else looks at the whole picture.
// Throws Error{kInvalidArgument} that lists them.
SiteKind chosen_site(const Args& args, const Engine& engine, bool sees_picture);

// Whether --inputs are pixels: told by the model, or where it reads texts too by --site.
bool gives_pixels(const Args& args, const Engine& engine);

// Throws Error{kInvalidArgument} if --at and --token are both given, or --at without a picture.
void check_row_options(const Args& args, const Engine& engine, bool sees_picture);

// Throw Error{kInvalidArgument} with what there is for a --layer or --head that the model
// does not have: before anything is run. `all`, `mean` and `max` are any model's.
void check_layer(const Args& args, const Engine& engine, SiteKind kind);
void check_head(const Args& args, const Engine& engine, SiteKind kind);

// The row of a picture: --at, --token, or what comes in front of the patches. The note says which
// pixels a patch shows. Throws Error{kInvalidArgument} if there is none.
FoundToken chosen_patch(const Args& args, const PictureInput& picture, const Axis& rows,
                        const Engine& engine);

}  // namespace fovea
