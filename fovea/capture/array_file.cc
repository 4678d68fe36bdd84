#include "fovea/capture/array_file.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/json.h"
#include "fovea/base/utf8.h"
#include "fovea/capture/site.h"
#include "fovea/io/npy.h"
#include "fovea/io/npz.h"
#include "fovea/io/safetensors.h"

namespace fovea {
namespace {

constexpr size_t kLargestLabels = size_t{1} << 28;

std::string names_text(const std::vector<std::string>& names) {
  constexpr size_t kMostNames = 8;
  std::vector<std::string> shown;
  for (size_t i = 0; i < std::min(names.size(), kMostNames); ++i) {
    shown.push_back(quote_name(names[i]));
  }
  return fmt::format("{}{}", fmt::join(shown, ", "), names.size() > kMostNames ? ", …" : "");
}

// Which of a file's arrays are meant.
std::vector<std::string> chosen_names(const std::vector<std::string>& names,
                                      const std::optional<std::string>& chosen,
                                      const std::string& source) {
  if (names.empty()) fail(ErrorKind::kBadFile, "{}: holds no arrays", source);
  if (chosen) {
    if (std::ranges::count(names, *chosen) > 0) return {*chosen};
    fail(ErrorKind::kNotFound, Field{"array"}, "{} is not in {}, which holds {}",
         quote_name(*chosen), source, names_text(names));
  }
  std::vector<std::string> sites;
  std::ranges::copy_if(names, std::back_inserter(sites),
                       [](const std::string& name) { return find_site(name).has_value(); });
  if (!sites.empty()) return sites;
  if (names.size() == 1) return names;
  fail(ErrorKind::kBadFile, Field{"array"},
       "{} holds {} arrays, {}, and none is named as a layer is (self.0, cross.0); choose one",
       source, names.size(), names_text(names));
}

// Other programs may mean something else by the same key: that is no label then.
std::optional<Json> find_json(const SafetensorsFile& file, std::string_view key) {
  const std::string* text = file.find_metadata(key);
  if (text == nullptr) return {};
  try {
    return Json::parse(*text, "metadata");
  } catch (const Error&) {
    return {};
  }
}

std::optional<std::vector<std::string>> find_strings(const Json* json) {
  if (json == nullptr || !json->is_array()) return {};
  std::vector<std::string> strings;
  for (const Json& each : json->as_array("")) {
    if (!each.is_string()) return {};
    strings.push_back(each.as_string(""));
  }
  return strings;
}

void read_metadata(const SafetensorsFile& file, ArrayFile& result) {
  const auto text = [&](std::string_view key) {
    const std::string* value = file.find_metadata(key);
    return value == nullptr ? std::string() : *value;
  };
  result.model = text("model");
  result.model_hash = text("model_hash");
  for (const std::string_view key : {kRowLabels, kColLabels}) {
    const std::optional<Json> json = find_json(file, key);
    auto strings = find_strings(json ? &*json : nullptr);
    if (strings) result.labels.emplace(key, *std::move(strings));
  }
  const std::optional<Json> tokens = find_json(file, "tokens");
  if (tokens && tokens->is_object()) {
    for (const auto& [axis, list] : tokens->as_object("")) {
      if (auto strings = find_strings(&list)) result.labels.emplace(axis, *std::move(strings));
    }
  }
  const std::optional<Json> axes = find_json(file, "axes");
  if (!axes || !axes->is_object()) return;
  for (const auto& [array, pair] : axes->as_object("")) {
    const auto names = find_strings(&pair);
    if (names && names->size() == 2)
      result.axes.emplace(array, ArrayFile::AxisNames{(*names)[0], (*names)[1]});
  }
}

}  // namespace

bool is_array_name(const std::filesystem::path& path) {
  const std::string suffix = lower_suffix(path);
  return suffix == ".npy" || suffix == ".npz";
}

ArrayFile parse_array_file(Bytes bytes, const std::string& name, std::string_view suffix,
                           std::shared_ptr<const void> keep_alive,
                           const std::optional<std::string>& chosen) {
  ArrayFile result;
  if (suffix == ".npy") {
    if (chosen) {
      fail(ErrorKind::kBadFile, Field{"array"},
           "{} is a .npy, which holds one array without a name; leave it out", name);
    }
    result.arrays.push_back({"", parse_npy(bytes, name, std::move(keep_alive))});
  } else if (suffix == ".npz") {
    const NpzFile file = NpzFile::parse(bytes, name, std::move(keep_alive));
    std::vector<std::string> names = file.names();
    // What is said about numbers, as fovea itself writes it beside them.
    if (!chosen && names.size() > 1) {
      std::erase_if(names, [&](const std::string& each) { return file.is_of_texts(each); });
    }
    for (const std::string& each : chosen_names(names, chosen, name)) {
      result.arrays.push_back({each, file.tensor(each)});
    }
  } else {
    const SafetensorsFile file = SafetensorsFile::parse(bytes, name, std::move(keep_alive));
    for (const std::string& each : chosen_names(file.names(), chosen, name)) {
      result.arrays.push_back({each, file.tensor(each)});
    }
    read_metadata(file, result);
  }
  return result;
}

ArrayFile read_array_file(const std::filesystem::path& path,
                          const std::optional<std::string>& chosen) {
  const auto file = MappedFile::open(path);
  return parse_array_file(file->bytes(), path.string(), lower_suffix(path), file, chosen);
}

std::vector<std::string> read_labels(const std::filesystem::path& path) {
  const std::string where = path.string();
  const std::string text = read_text_file(path, kLargestLabels);
  if (lower_suffix(path) == ".json") {
    const Json list = Json::parse(text, where);
    std::vector<std::string> labels;
    for (const Json& label : list.as_array(where)) {
      labels.push_back(label.as_string(where));
    }
    return labels;
  }
  if (const size_t bad = find_invalid_utf8(text); bad != text.npos) {
    fail(ErrorKind::kBadFile, "{}: is not UTF-8 at byte {}; labels are text, one a line", where,
         bad);
  }
  std::vector<std::string> labels;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    std::string label = text.substr(begin, end - begin);
    if (label.ends_with('\r')) label.pop_back();
    labels.push_back(std::move(label));
    begin = end + 1;
  }
  return labels;
}

}  // namespace fovea
