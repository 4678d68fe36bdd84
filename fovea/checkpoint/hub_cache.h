// The Hugging Face cache: hub/models--ORG--NAME with blobs/ETAG (the bytes), snapshots/COMMIT/FILE
// (links to them) and refs/REVISION (a commit). Other programs read and write it too.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace fovea {

// "gpt2", "org/name" or "org/name@revision": none of it can leave a folder or hide in one.
struct HubName {
  std::string id;        // "org/name"
  std::string revision;  // a branch, tag or commit; empty: main

  static std::optional<HubName> parse(std::string_view text);
  std::string text() const;  // as parse takes it
  std::string revision_or_main() const { return revision.empty() ? "main" : revision; }
};

// Whether `text` may be the name of one file here: letters, digits, '.', '-' and '_', not beginning
// with '.' or '-'.
bool is_plain_name(std::string_view text);

// Whether the name of a repository's file, out of a listing, leads to a place within the folder.
bool stays_in_folder(std::string_view file);

// The environment variable as a path, a leading ~ being the home folder; empty if it is not set.
std::filesystem::path path_from_variable(const char* name);
// XDG_CACHE_HOME, otherwise ~/.cache.
std::filesystem::path user_cache();
// HF_HOME, otherwise huggingface/ in the user's cache.
std::filesystem::path hub_home();

// hub/models--ORG--NAME.
std::filesystem::path hub_folder(const std::filesystem::path& hub, std::string_view id);

// The folder of the snapshot that the revision's ref names, or whose name is the revision. Without
// a revision, the only snapshot counts too. Empty if the cache does not hold it. Throws
// Error{kBadFile} if the ref is damaged.
std::filesystem::path find_hub_snapshot(const std::filesystem::path& hub, const HubName& name);

}  // namespace fovea
