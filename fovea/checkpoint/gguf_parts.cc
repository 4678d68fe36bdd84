#include "fovea/checkpoint/gguf_parts.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/parse.h"

namespace fovea {

std::vector<std::string> gguf_part_names(std::string_view name) {
  constexpr std::string_view kForm = "-00001-of-00003.gguf";
  constexpr size_t kDigits = 5;
  if (name.size() <= kForm.size()) return {};
  const std::string_view stem = name.substr(0, name.size() - kForm.size());
  const std::string_view end = name.substr(stem.size());
  const auto part = parse_number<int64_t>(end.substr(1, kDigits));
  const auto count = parse_number<int64_t>(end.substr(10, kDigits));
  if (end[0] != '-' || end.substr(6, 4) != "-of-" || end.substr(15) != ".gguf" || !part || !count ||
      *part < 1 || *count < *part) {
    return {};
  }
  std::vector<std::string> names;
  for (int64_t i = 1; i <= *count; ++i) {
    names.push_back(fmt::format("{}-{:05}-of-{:05}.gguf", stem, i, *count));
  }
  return names;
}

std::vector<std::filesystem::path> gguf_part_files(const std::filesystem::path& path) {
  const std::vector<std::string> names = gguf_part_names(path.filename().string());
  if (names.size() < 2) return {path};
  std::vector<std::filesystem::path> files;
  for (const std::string& name : names) {
    files.push_back(path.parent_path() / name);
    if (file_exists(files.back())) continue;
    fail(ErrorKind::kNotFound,
         "{}: is one of {} parts of a model, and {} is not beside it; fetch "
         "all of them",
         path.string(), names.size(), name);
  }
  return files;
}

std::filesystem::path find_gguf_file(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
    if (it->path().extension() == ".gguf") files.push_back(it->path());
  }
  if (files.empty()) return {};
  std::sort(files.begin(), files.end());
  const std::vector<std::string> parts = gguf_part_names(files.front().filename().string());
  const bool one =
      files.size() == 1 || std::ranges::all_of(files, [&](const std::filesystem::path& file) {
        return std::ranges::find(parts, file.filename().string()) != parts.end();
      });
  return one ? files.front() : std::filesystem::path();
}

void check_gguf_part(const GgufMetadata& metadata, size_t index,
                     const std::filesystem::path& file) {
  const auto parts = static_cast<int64_t>(gguf_part_names(file.filename().string()).size());
  const int64_t said = metadata.get_int("split.count").value_or(0);
  const int64_t number = metadata.get_int("split.no").value_or(0);
  if (said > 1 && parts != said) {
    fail(ErrorKind::kBadFile,
         "{}: is one of {} parts of a model but is not called so; give it its name again, "
         "'-{:05}-of-{:05}.gguf' at the end",
         file.string(), said, number + 1, said);
  }
  if (parts > 1 && (said != parts || number != static_cast<int64_t>(index))) {
    fail(ErrorKind::kBadFile, "{}: is called part {} of {} but says that it is part {} of {}",
         file.string(), index + 1, parts, number + 1, said);
  }
}

}  // namespace fovea
