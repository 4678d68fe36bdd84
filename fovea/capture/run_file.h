// A captured run on disk. It is one ordinary safetensors file, so that any program can read it.
//
// Tensors are named SITE.q, SITE.k, SITE.v, SITE.lse and so on (docs/run-file.md); the metadata
// entry "fovea" is a JSON object with the format version, the model, the axes and, for every site,
// the rule of its scores.
#pragma once

#include <filesystem>
#include <string_view>

#include "fovea/capture/run.h"
#include "fovea/io/safetensors.h"

namespace fovea {

// Raised when a reader of the old format could misread the new one. Older versions stay readable.
inline constexpr int kRunFormatVersion = 1;

// Writes atomically. Throws as validate(run) does, and Error{kIo}.
void save_run(const Run& run, const std::filesystem::path& path);

// Whether the file claims to be a captured run.
bool holds_run(const SafetensorsFile& file);

// Reads a run; its tensors stay mapped. Everything is checked first. Throws Error{kBadFile} for a
// file that is not a run or whose parts do not fit together, and Error{kUnsupported} for a newer
// format.
Run load_run(const std::filesystem::path& path);
// The same for an open file; messages begin with `source`.
Run load_run(const SafetensorsFile& file, std::string_view source);

}  // namespace fovea
