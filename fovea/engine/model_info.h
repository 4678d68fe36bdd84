// What a model is, for people and programs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fovea/base/json.h"
#include "fovea/engine/engine.h"

namespace fovea {

struct ModelInfo {
  std::string name;
  std::string folder;
  std::string model_type;
  std::string covers;
  ModelFacts facts;
  std::vector<std::string> labels;
  int64_t parameters = 0;  // numbers in all tensors
  int64_t tensors = 0;
  std::vector<std::string> stored_as;  // "F32", "Q4_1"
  uint64_t file_bytes = 0;
  std::string tokenizer;  // "30522 tokens", or why there is none
  std::string hash;
  std::vector<std::string> unread;  // tensors that the architecture does not know
};

ModelInfo model_info(const Engine& engine);
Json to_json(const ModelInfo& info);

// A model that is at hand: bundled, in fovea's cache or in the hub's.
struct LocalModel {
  std::string name;  // what -m takes
  std::string place;
  std::string model_type;  // empty if it cannot be told
  bool supported = false;
};
std::vector<LocalModel> local_models(const ModelCaches& caches);

}  // namespace fovea
