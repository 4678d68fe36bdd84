// A model's config.json: the sizes and switches that tell what its weights mean.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fovea/base/json.h"

namespace fovea {

// Every message begins with the file's path and names the member, "rope_scaling.factor" for one of
// a section. A member that is null counts as missing. All const members may be called from any
// thread.
class Config {
 public:
  Config() : Config(Json::object(), "config.json") {}
  // `source` names the file in messages. Throws Error{kBadFile} unless `json` is an object.
  Config(Json json, std::string source);
  // Throws as MappedFile::open and Json::parse do.
  static Config open(const std::filesystem::path& path);

  const std::string& source() const { return source_; }
  const Json& json() const { return json_; }
  // The member 'model_type'. Throws Error{kBadFile} if it is missing.
  const std::string& model_type() const;

  bool has(std::string_view key) const { return find(key) != nullptr; }
  // Each throws Error{kBadFile} if the member is missing or of another type.
  int64_t get_int(std::string_view key) const;
  double get_double(std::string_view key) const;
  bool get_bool(std::string_view key) const;
  const std::string& get_string(std::string_view key) const;
  // Each gives `otherwise` if the member is missing, and throws if it is of another type.
  int64_t get_int(std::string_view key, int64_t otherwise) const;
  double get_double(std::string_view key, double otherwise) const;
  bool get_bool(std::string_view key, bool otherwise) const;
  std::string get_string(std::string_view key, std::string_view otherwise) const;
  // A count of things, from 1 to 2^31 - 1; others are refused with the number.
  int64_t get_size(std::string_view key) const;
  int64_t get_size(std::string_view key, int64_t otherwise) const;

  // Each is empty if the member is missing.
  std::vector<int64_t> get_ints(std::string_view key) const;
  std::vector<double> get_doubles(std::string_view key) const;
  std::vector<std::string> get_strings(std::string_view key) const;
  // An object's members in their order, such as id2label.
  std::vector<std::pair<std::string, std::string>> get_string_map(std::string_view key) const;

  // The same configuration, with these members added unless it has them.
  Config with_defaults(const std::vector<Json::Member>& defaults) const;

  // The object under `key`, "text_config" say. Throws Error{kBadFile} if it is missing or not one.
  Config section(std::string_view key) const;
  // As above, but nothing if it is missing.
  std::optional<Config> find_section(std::string_view key) const;

 private:
  Config(Json json, std::string source, std::string path);
  const Json* find(std::string_view key) const;  // nullptr if missing or null
  const Json& at(std::string_view key, std::string_view wanted) const;
  std::string where(std::string_view key) const;

  Json json_;
  std::string source_;
  std::string path_;  // "" or "rope_scaling."
};

}  // namespace fovea
