#include "fovea/checkpoint/hub_cache.h"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/utf8.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;

constexpr size_t kLongestFolderName = 200;  // leaves room in a file name for what is added to it

bool is_plain_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_' || c == '.';
}

// Whether `check` holds for each part between slashes, empty ones included.
template <typename Check>
bool every_part(std::string_view path, const Check& check) {
  for (;;) {
    const size_t slash = path.find('/');
    if (!check(path.substr(0, slash))) return false;
    if (slash == path.npos) return true;
    path.remove_prefix(slash + 1);
  }
}

fs::path home_folder() {
  const char* home = std::getenv("HOME");
  if (home != nullptr && *home != '\0') return home;
  const passwd* user = ::getpwuid(::getuid());  // a service may run without HOME
  return user != nullptr && user->pw_dir != nullptr ? user->pw_dir : "/";
}

std::string read_ref(const fs::path& ref) {
  std::string commit = read_text_file(ref, 4096);
  while (!commit.empty() && (commit.back() == '\n' || commit.back() == ' ')) commit.pop_back();
  if (!is_plain_name(commit)) {
    fail(ErrorKind::kBadFile, "{}: holds {} where the name of a commit is expected; fetch it again",
         ref.string(), quote_name(commit));
  }
  return commit;
}

fs::path only_folder_in(const fs::path& parent) {
  std::vector<fs::path> folders;
  std::error_code error;
  for (fs::directory_iterator it(parent, error), end; !error && it != end; it.increment(error)) {
    if (is_folder(it->path())) folders.push_back(it->path());
  }
  return folders.size() == 1 ? folders.front() : fs::path();
}

}  // namespace

bool is_plain_name(std::string_view text) {
  return !text.empty() && text.size() <= kLongestFolderName && text.front() != '.' &&
         text.front() != '-' && std::all_of(text.begin(), text.end(), is_plain_character);
}

bool stays_in_folder(std::string_view file) {
  // Control characters would be harmless to the system, but no repository has them for good.
  const auto is_bad = [](char c) { return (c >= 0 && c < ' ') || c == '\x7f' || c == '\\'; };
  return std::none_of(file.begin(), file.end(), is_bad) &&
         find_invalid_utf8(file) == std::string_view::npos &&
         every_part(file, [](std::string_view part) {
           return !part.empty() && part != "." && part != ".." && part.size() <= kLongestFolderName;
         });
}

std::optional<HubName> HubName::parse(std::string_view text) {
  HubName name;
  const size_t at = text.find('@');
  if (at != text.npos) {
    name.revision = text.substr(at + 1);
    if (!every_part(name.revision, is_plain_name)) return std::nullopt;
    text = text.substr(0, at);
  }
  if (std::count(text.begin(), text.end(), '/') > 1) return std::nullopt;
  if (!every_part(text, is_plain_name)) return std::nullopt;
  name.id = text;
  return name;
}

std::string HubName::text() const {
  return revision.empty() ? id : id + "@" + revision;
}

fs::path path_from_variable(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr) return {};
  const std::string_view text = value;
  if (text == "~" || text.starts_with("~/")) {
    return home_folder() / text.substr(std::min<size_t>(2, text.size()));
  }
  return text;
}

fs::path user_cache() {
  const fs::path folder = path_from_variable("XDG_CACHE_HOME");
  return folder.empty() ? home_folder() / ".cache" : folder;
}

fs::path hub_home() {
  const fs::path folder = path_from_variable("HF_HOME");
  return folder.empty() ? user_cache() / "huggingface" : folder;
}

fs::path hub_folder(const fs::path& hub, std::string_view id) {
  std::string folder = "models--";
  for (const char c : id) folder += c == '/' ? "--" : std::string(1, c);
  return hub / folder;
}

fs::path find_hub_snapshot(const fs::path& hub, const HubName& name) {
  const fs::path folder = hub_folder(hub, name.id);
  const fs::path ref = folder / "refs" / name.revision_or_main();
  std::error_code ignored;
  if (fs::is_regular_file(ref, ignored)) {
    const fs::path snapshot = folder / "snapshots" / read_ref(ref);
    return is_folder(snapshot) ? snapshot : fs::path();
  }
  if (name.revision.empty()) return only_folder_in(folder / "snapshots");
  if (!is_plain_name(name.revision)) return {};  // a branch such as "a/b", which has no ref here
  const fs::path snapshot = folder / "snapshots" / name.revision;
  return is_folder(snapshot) ? snapshot : fs::path();
}

}  // namespace fovea
