#include "fovea/cli/outputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/progress.h"
#include "fovea/cli/terminal.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 4> kOutputs{"out", "mask-out", "check-out", "state"};
// Folders whose files are read, whatever their names.
constexpr std::array<std::string_view, 3> kFolders{"model", "reverse-model", "DIR"};

struct Output {
  std::string name;  // as people are told
  fs::path path;
};

std::vector<Output> outputs_of(const GivenValues& given) {
  std::vector<Output> outputs;
  for (const std::string_view name : kOutputs) {
    const auto value = given.find(name);
    if (value == given.end()) continue;
    outputs.push_back({fmt::format("--{}", name), value->second.front()});
  }
  const auto out = given.find("out");
  if (out != given.end() && given.contains("sidecar")) {
    outputs.push_back({"the file of --sidecar", out->second.front() + ".json"});
  }
  return outputs;
}

bool is_same_file(const fs::path& a, const fs::path& b) {
  std::error_code error;
  return fs::equivalent(a, b, error) && !error;
}

// The whole path of a file that need not exist yet.
fs::path whole_path(const fs::path& path) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  const fs::path whole = fs::weakly_canonical(absolute, error);
  return error ? absolute.lexically_normal() : whole;
}

bool lies_in(const fs::path& file, const fs::path& folder) {
  const fs::path inner = whole_path(file), outer = whole_path(folder);
  return std::ranges::mismatch(outer, inner).in1 == outer.end();
}

void check_against_input(const Output& output, const std::string& name, const std::string& input) {
  if (is_same_file(output.path, input)) {
    fail(ErrorKind::kInvalidArgument,
         "{} is '{}', the input itself, which would be lost; give another name", output.name,
         output.path.string());
  }
  const bool folder = std::ranges::count(kFolders, name) > 0 && is_folder(input);
  if (folder && file_exists(output.path) && lies_in(output.path, input)) {
    fail(ErrorKind::kInvalidArgument,
         "{} is '{}', a file of the folder '{}' that is read, which would be lost; give another "
         "name",
         output.name, output.path.string(), input);
  }
}

}  // namespace

void check_outputs(const Args& args) {
  const std::vector<Output> outputs = outputs_of(args.given());
  for (const Output& output : outputs) {
    for (const auto& [name, values] : args.given()) {
      if (std::ranges::count(kOutputs, name) > 0) continue;
      for (const std::string& value : values) check_against_input(output, name, value);
    }
    for (const Output& other : outputs) {
      if (&other == &output || whole_path(other.path) != whole_path(output.path)) continue;
      fail(ErrorKind::kInvalidArgument, "{} and {} are both '{}'; give them different names",
           output.name, other.name, output.path.string());
    }
    const fs::path folder = output.path.has_parent_path() ? output.path.parent_path() : ".";
    if (!is_folder(folder)) {
      fail(ErrorKind::kIo, "{}: cannot be written: there is no folder '{}'; make it first",
           output.path.string(), folder.string());
    }
  }
}

std::string wrote_line(const fs::path& path) {
  return fmt::format("wrote {}\n", printable(path.string()));
}

std::string wrote_page_line(const fs::path& path) {
  std::error_code ignored;
  return fmt::format("wrote {}, {}\n", printable(path.string()),
                     format_bytes(fs::file_size(path, ignored)));
}

}  // namespace fovea
