#include "fovea/checkpoint/resolve.h"

#include <optional>
#include <string>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/utf8.h"
#include "fovea/checkpoint/hub_cache.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;

fs::path& models_of_front_end() {
  static fs::path folder;
  return folder;
}

std::vector<fs::path> bundled_places() {
  const fs::path own = path_from_variable("FOVEA_MODELS");
  if (!own.empty()) return {own};
  std::error_code ignored;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
  std::vector<fs::path> places;
  if (!models_of_front_end().empty()) places.push_back(models_of_front_end());
  if (!program.empty()) places.push_back(program.parent_path() / "../share/fovea/models");
  places.emplace_back(FOVEA_INSTALLED_MODELS);
  places.emplace_back(FOVEA_SOURCE_MODELS);
  return places;
}

// Its folder, or an empty path.
fs::path find_bundled(std::string_view name, const ModelCaches& caches) {
  for (const fs::path& place : caches.bundled) {
    if (file_exists(place / name / "config.json")) return (place / name).lexically_normal();
  }
  return {};
}

[[noreturn]] void fail_not_found(std::string_view name, const std::optional<HubName>& hub_name,
                                 const ModelCaches& caches) {
  if (!hub_name) {
    fail(ErrorKind::kNotFound,
         "{}: no such file or folder, nor a model's name; give a folder with config.json, a "
         ".safetensors, .bin or .gguf file, or ORG/NAME",
         quote_name(name));
  }
  const bool has_organisation = hub_name->id.find('/') != std::string::npos;
  fail(ErrorKind::kNotFound,
       "{}: no such folder or file, not in {} and not in {}; pull {} from the hub first",
       quote_name(name), (caches.models / name).string(),
       hub_folder(caches.hub, hub_name->id).string(), has_organisation ? name : "ORG/NAME");
}

}  // namespace

ModelCaches ModelCaches::from_environment() {
  ModelCaches caches;
  const fs::path own = path_from_variable("FOVEA_CACHE");
  caches.models = (own.empty() ? user_cache() / "fovea" : own) / "models";
  const fs::path hub = path_from_variable("HF_HUB_CACHE");
  caches.hub = hub.empty() ? hub_home() / "hub" : hub;
  caches.bundled = bundled_places();
  return caches;
}

void set_bundled_models(const std::filesystem::path& folder) {
  models_of_front_end() = folder;
}

ModelPlace resolve_model(std::string_view name, const ModelCaches& caches) {
  if (name.empty() || name.find('\0') != name.npos) {
    fail(ErrorKind::kInvalidArgument,
         "the model's name is empty; give a folder, a file or ORG/NAME");
  }
  const fs::path path(name);
  if (is_folder(path)) return {.folder = path, .file = {}};
  if (file_exists(path)) return {.folder = path.parent_path(), .file = path};
  const std::optional<HubName> hub_name = HubName::parse(name);
  if (hub_name) {
    const fs::path bundled = find_bundled(name, caches);
    if (!bundled.empty()) return {.folder = bundled, .file = {}};
    const fs::path own = caches.models / path;
    if (is_folder(own)) return {.folder = own, .file = {}};
    if (file_exists(own)) return {.folder = own.parent_path(), .file = own};
    const fs::path snapshot = find_hub_snapshot(caches.hub, *hub_name);
    if (!snapshot.empty()) return {.folder = snapshot, .file = {}};
  }
  fail_not_found(name, hub_name, caches);
}

bool is_at_hand(std::string_view name, const ModelCaches& caches) {
  return !find_bundled(name, caches).empty() || file_exists(caches.models / name);
}

}  // namespace fovea
