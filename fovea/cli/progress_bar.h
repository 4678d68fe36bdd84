// How far the work is, as a bar on stderr when it is a terminal; nothing at all in a pipe.
#pragma once

#include "fovea/base/watch.h"

namespace fovea {

// For one verb. The bar of a stage is removed when the stage ends.
ProgressSink progress_bars();

}  // namespace fovea
