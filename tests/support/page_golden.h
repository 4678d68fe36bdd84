// Vectors that fovea writes and the viewer of its pages (web/src/core) is held against too.
#pragma once

#include <cstdlib>
#include <filesystem>

#include "fovea/attention/score_rule.h"
#include "fovea/base/file.h"
#include "fovea/base/json.h"

namespace fovea::support {

// With FOVEA_UPDATE_GOLDEN=1 the vectors are written anew.
inline void update_golden(const std::filesystem::path& path, const Json& made) {
  if (std::getenv("FOVEA_UPDATE_GOLDEN") == nullptr) return;
  std::filesystem::create_directories(path.parent_path());
  write_file_atomic(path, [&](FileWriter& file) { file.write(made.dump() + "\n"); });
}

// A mask as the header of a page has it.
inline Json mask_json(const Mask& mask) {
  Json json = Json::object();
  json.set("offset", mask.query_offset);
  json.set("behind", mask.behind ? Json(*mask.behind) : Json());
  json.set("ahead", mask.ahead ? Json(*mask.ahead) : Json());
  Json hidden = Json::array();
  for (size_t key = 0; key < mask.key_valid.size(); ++key) {
    if (mask.key_valid[key] == 0) hidden.push_back(key);
  }
  if (!mask.key_valid.empty()) json.set("hiddenKeys", std::move(hidden));
  if (!mask.key_group.empty()) {
    json.set("queryGroups", Json::array_of(mask.query_group));
    json.set("keyGroups", Json::array_of(mask.key_group));
  }
  return json;
}

}  // namespace fovea::support
