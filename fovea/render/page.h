// A captured run as one HTML file: all maps, compactly, and the viewer. It asks nothing of anybody:
// no network, no file beside it. docs/html-page.md describes the file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "fovea/capture/run.h"
#include "fovea/figure/page_options.h"

namespace fovea {

// No page takes more.
inline constexpr uint64_t kMostPageBytes = 64'000'000;

// True for .html and .htm, in any case.
bool is_page_suffix(const std::filesystem::path& path);

// About how many bytes write_page() would write at most.
uint64_t page_bytes_estimate(const Run& run, const PageOptions& options = {});

// Throws Error{kInvalidArgument} if the page would be too large or a choice does not fit it,
// Error{kNotFound} if the run has no such attention, and Error{kIo}; what was at `path` stays if it
// cannot be written whole.
void write_page(const std::filesystem::path& path, const Run& run, const PageOptions& options = {});

}  // namespace fovea
