// `fovea detect`, for who calls it several times for one picture.
#pragma once

#include "fovea/cli/ask_options.h"

namespace fovea {

void detect(const Args& args, KeptSession& kept);

}  // namespace fovea
