#include "fovea/checkpoint/config.h"

#include <limits>

#include "fovea/base/error.h"
#include "fovea/base/file.h"

namespace fovea {
namespace {

constexpr size_t kLongestConfig = size_t{64} << 20;

}  // namespace

Config::Config(Json json, std::string source) : Config(std::move(json), std::move(source), "") {}

Config::Config(Json json, std::string source, std::string path)
    : json_(std::move(json)), source_(std::move(source)), path_(std::move(path)) {
  if (!json_.is_object()) {
    fail(ErrorKind::kBadFile, "{}: should hold an object but is {}; is it a model's config.json?",
         source_, json_.type_name());
  }
}

Config Config::open(const std::filesystem::path& path) {
  return Config(Json::parse(read_text_file(path, kLongestConfig), path.string()), path.string());
}

std::string Config::where(std::string_view key) const {
  return fmt::format("{}: '{}{}'", source_, path_, key);
}

const Json* Config::find(std::string_view key) const {
  const Json* value = json_.find(key);
  return value == nullptr || value->is_null() ? nullptr : value;
}

const Json& Config::at(std::string_view key, std::string_view wanted) const {
  const Json* value = find(key);
  if (value == nullptr) {
    fail(ErrorKind::kBadFile, "{} should be {} but is missing; is this the model's own file?",
         where(key), wanted);
  }
  return *value;
}

const std::string& Config::model_type() const {
  return get_string("model_type");
}

int64_t Config::get_int(std::string_view key) const {
  return at(key, "a whole number").as_int(where(key));
}

double Config::get_double(std::string_view key) const {
  return at(key, "a number").as_double(where(key));
}

bool Config::get_bool(std::string_view key) const {
  return at(key, "true or false").as_bool(where(key));
}

const std::string& Config::get_string(std::string_view key) const {
  return at(key, "a string").as_string(where(key));
}

int64_t Config::get_int(std::string_view key, int64_t otherwise) const {
  return has(key) ? get_int(key) : otherwise;
}

double Config::get_double(std::string_view key, double otherwise) const {
  return has(key) ? get_double(key) : otherwise;
}

bool Config::get_bool(std::string_view key, bool otherwise) const {
  return has(key) ? get_bool(key) : otherwise;
}

std::string Config::get_string(std::string_view key, std::string_view otherwise) const {
  return has(key) ? get_string(key) : std::string(otherwise);
}

int64_t Config::get_size(std::string_view key) const {
  constexpr int64_t kLargest = std::numeric_limits<int32_t>::max();
  const int64_t value = get_int(key);
  if (value < 1 || value > kLargest) {
    fail(ErrorKind::kBadFile, "{} should be from 1 to {} but is {}; correct the file", where(key),
         kLargest, value);
  }
  return value;
}

int64_t Config::get_size(std::string_view key, int64_t otherwise) const {
  return has(key) ? get_size(key) : otherwise;
}

std::vector<int64_t> Config::get_ints(std::string_view key) const {
  std::vector<int64_t> values;
  if (!has(key)) return values;
  for (const Json& item : find(key)->as_array(where(key))) {
    values.push_back(item.as_int(where(key)));
  }
  return values;
}

std::vector<double> Config::get_doubles(std::string_view key) const {
  std::vector<double> values;
  if (!has(key)) return values;
  for (const Json& item : find(key)->as_array(where(key))) {
    values.push_back(item.as_double(where(key)));
  }
  return values;
}

std::vector<std::string> Config::get_strings(std::string_view key) const {
  std::vector<std::string> values;
  if (!has(key)) return values;
  for (const Json& item : find(key)->as_array(where(key))) {
    values.push_back(item.as_string(where(key)));
  }
  return values;
}

std::vector<std::pair<std::string, std::string>> Config::get_string_map(
    std::string_view key) const {
  std::vector<std::pair<std::string, std::string>> values;
  if (!has(key)) return values;
  for (const auto& [name, item] : find(key)->as_object(where(key))) {
    values.emplace_back(name, item.as_string(where(key)));
  }
  return values;
}

Config Config::with_defaults(const std::vector<Json::Member>& defaults) const {
  Config config = *this;
  for (const auto& [key, value] : defaults) {
    if (!has(key)) config.json_.set(key, value);
  }
  return config;
}

Config Config::section(std::string_view key) const {
  const Json& value = at(key, "an object");
  value.as_object(where(key));
  return Config(value, source_, fmt::format("{}{}.", path_, key));
}

std::optional<Config> Config::find_section(std::string_view key) const {
  if (!has(key)) return std::nullopt;
  return section(key);
}

}  // namespace fovea
