#include "fovea/cli/run_input.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/capture/array_file.h"
#include "fovea/capture/array_run.h"
#include "fovea/capture/run_file.h"

namespace fovea {
namespace {

bool given(const Args& args, const char* option) {
  return args.knows(option) && args.has(option);
}

ArrayOptions array_options_of(const Args& args) {
  const auto labels = [&](const char* option) -> std::optional<std::vector<std::string>> {
    if (!given(args, option)) return {};
    return read_labels(args[option]);
  };
  ArrayOptions options{.array = {}, .labels = labels("labels"), .col_labels = labels("col-labels")};
  if (given(args, "array")) options.array = args["array"];
  return options;
}

// A .safetensors without a run is taken for arrays if any of it could be a map.
bool holds_arrays(const std::filesystem::path& path) {
  if (is_array_name(path)) return true;
  if (lower_suffix(path) != ".safetensors" || !file_exists(path)) return false;
  const SafetensorsFile file = SafetensorsFile::open(path);
  return !holds_run(file) && std::ranges::any_of(file.entries(), [](const auto& entry) {
    return entry.shape.rank() >= 2;
  });
}

}  // namespace

std::vector<Option> array_options() {
  return {Option::text("labels", "FILE",
                       "of an array: names of its positions, of the rows where columns are "
                       "something else; one a line, or a .json list"),
          Option::text("col-labels", "FILE", "of an array: names of its columns, written so too"),
          Option::text("array", "NAME", "of a file with several arrays, the one that is meant")};
}

Session open_run_file(const std::filesystem::path& path, const Args& args) {
  if (holds_arrays(path)) return Session::of(open_arrays(path, array_options_of(args)));
  for (const char* option : {"labels", "col-labels", "array"}) {
    if (!given(args, option)) continue;
    fail(ErrorKind::kInvalidArgument,
         "--{} is about an array of weights but '{}' is a captured run; leave it out", option,
         path.string());
  }
  return Session::of(load_run(path));
}

}  // namespace fovea
