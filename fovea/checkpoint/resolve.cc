#include "fovea/checkpoint/resolve.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/io/tensor_bytes.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;

// Empty if the variable is not set or empty. A leading ~ is the home folder.
fs::path from_variable(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr) return {};
  const std::string_view text = value;
  const char* home = std::getenv("HOME");
  if (home != nullptr && (text == "~" || text.starts_with("~/"))) {
    return fs::path(home) / text.substr(std::min<size_t>(2, text.size()));
  }
  return text;
}

fs::path user_cache() {
  const fs::path folder = from_variable("XDG_CACHE_HOME");
  return folder.empty() ? from_variable("HOME") / ".cache" : folder;
}

bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

bool is_plain_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_' || c == '.';
}

// "gpt2" or "org/name", which can neither leave a folder nor hide one.
bool is_model_name(std::string_view name) {
  const auto is_part = [](std::string_view part) {
    return !part.empty() && part.front() != '.' && part.front() != '-' &&
           std::all_of(part.begin(), part.end(), is_plain_character);
  };
  const size_t slash = name.find('/');
  if (slash == name.npos) return is_part(name);
  return is_part(name.substr(0, slash)) && is_part(name.substr(slash + 1));
}

fs::path hub_folder(const fs::path& hub, std::string_view id) {
  std::string folder = "models--";
  for (const char c : id) folder += c == '/' ? "--" : std::string(1, c);
  return hub / folder;
}

[[noreturn]] void fail_not_found(std::string_view name, const ModelCaches& caches) {
  if (!is_model_name(name)) {
    fail(ErrorKind::kNotFound,
         "{}: no such file or folder, nor a model's name; give a folder with config.json, a "
         ".safetensors, .bin or .gguf file, or ORG/NAME",
         quote_name(name));
  }
  const bool has_organisation = name.find('/') != name.npos;
  fail(ErrorKind::kNotFound,
       "{}: no such folder or file, not in {} and not in {}; fetch it with 'fovea pull {}'",
       quote_name(name), (caches.models / name).string(), hub_folder(caches.hub, name).string(),
       has_organisation ? name : "ORG/NAME");
}

}  // namespace

ModelCaches ModelCaches::from_environment() {
  ModelCaches caches;
  const fs::path own = from_variable("FOVEA_CACHE");
  caches.models = (own.empty() ? user_cache() / "fovea" : own) / "models";
  caches.hub = from_variable("HF_HUB_CACHE");
  if (caches.hub.empty()) {
    const fs::path home = from_variable("HF_HOME");
    caches.hub = (home.empty() ? user_cache() / "huggingface" : home) / "hub";
  }
  return caches;
}

fs::path find_hub_snapshot(const fs::path& hub, std::string_view id) {
  if (!is_model_name(id)) return {};
  const fs::path folder = hub_folder(hub, id);
  const fs::path ref = folder / "refs" / "main";
  if (is_there(ref)) {
    std::string commit = read_text_file(ref, 4096);
    while (!commit.empty() && (commit.back() == '\n' || commit.back() == ' ')) commit.pop_back();
    if (commit.empty() || commit.front() == '.' ||
        !std::all_of(commit.begin(), commit.end(), is_plain_character)) {
      fail(ErrorKind::kBadFile,
           "{}: holds {} where the name of a commit is expected; fetch it again", ref.string(),
           quote_name(commit));
    }
    const fs::path snapshot = folder / "snapshots" / commit;
    if (is_folder(snapshot)) return snapshot;
    return {};
  }
  std::vector<fs::path> snapshots;
  std::error_code error;
  for (fs::directory_iterator it(folder / "snapshots", error), end; !error && it != end;
       it.increment(error)) {
    if (is_folder(it->path())) snapshots.push_back(it->path());
  }
  return snapshots.size() == 1 ? snapshots.front() : fs::path();
}

ModelPlace resolve_model(std::string_view name, const ModelCaches& caches) {
  if (name.empty() || name.find('\0') != name.npos) {
    fail(ErrorKind::kInvalidArgument,
         "the model's name is empty; give a folder, a file or ORG/NAME");
  }
  const fs::path path(name);
  if (is_folder(path)) return {.folder = path, .file = {}};
  if (is_there(path)) return {.folder = path.parent_path(), .file = path};
  if (is_model_name(name)) {
    const fs::path own = caches.models / path;
    if (is_folder(own)) return {.folder = own, .file = {}};
    if (is_there(own)) return {.folder = own.parent_path(), .file = own};
    const fs::path snapshot = find_hub_snapshot(caches.hub, name);
    if (!snapshot.empty()) return {.folder = snapshot, .file = {}};
  }
  fail_not_found(name, caches);
}

}  // namespace fovea
