// Finds the files for what a user typed.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

namespace fovea {

// Where models lie that have a name.
struct ModelCaches {
  std::filesystem::path models;                // fovea's own, fetched: models/NAME
  std::filesystem::path hub;                   // Hugging Face's: models--ORG--NAME/snapshots/COMMIT
  std::vector<std::filesystem::path> bundled;  // what comes with fovea: NAME, in the first that is

  // FOVEA_CACHE, otherwise fovea/ in XDG_CACHE_HOME or ~/.cache; HF_HUB_CACHE, otherwise
  // HF_HOME/hub, otherwise huggingface/hub in XDG_CACHE_HOME or ~/.cache; FOVEA_MODELS, otherwise
  // share/fovea/models beside the program's bin, where fovea was installed and where it was built.
  static ModelCaches from_environment();
};

// Where models lie that come with a front end which is no program, such as a package of Python.
// They are looked for there first, unless FOVEA_MODELS names another folder. Call it before any
// other thread looks for models.
void set_bundled_models(const std::filesystem::path& folder);

struct ModelPlace {
  std::filesystem::path folder;  // where config.json and the tokenizer's files lie
  std::filesystem::path file;    // the weights, if the user named a file; otherwise empty
};

// `name` is a folder, a file of weights, the name of a bundled model or of one in fovea's cache, or
// a hub id ("gpt2", "org/name", "org/name@revision") whose snapshot is in the hub's cache. Throws
// Error{kNotFound} saying where was looked.
ModelPlace resolve_model(std::string_view name,
                         const ModelCaches& caches = ModelCaches::from_environment());

// Whether a model of that name is bundled or in fovea's cache.
bool is_at_hand(std::string_view name, const ModelCaches& caches = ModelCaches::from_environment());

}  // namespace fovea
