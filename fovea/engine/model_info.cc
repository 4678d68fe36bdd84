#include "fovea/engine/model_info.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

#include "fovea/base/error.h"
#include "fovea/base/file.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;

std::string tokenizer_text(const Engine& engine) {
  try {
    return fmt::format("{} tokens", engine.tokenizer().size());
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kCancelled) throw;
    return fmt::format("none: {}", error.what());
  }
}

std::vector<std::string> folders_in(const fs::path& place) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(place, error), end; !error && it != end; it.increment(error)) {
    if (is_folder(it->path())) names.push_back(it->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

// "models--org--name" as "org/name"; empty for anything else.
std::string hub_name(const std::string& folder) {
  constexpr std::string_view kPrefix = "models--";
  if (!folder.starts_with(kPrefix)) return "";
  std::string name = folder.substr(kPrefix.size());
  const size_t at = name.find("--");
  if (at != name.npos) name.replace(at, 2, "/");
  return name;
}

LocalModel local_model(const std::string& name, const fs::path& place, const ModelCaches& caches) {
  LocalModel model{.name = name, .place = place.string()};
  try {
    const Checkpoint checkpoint = open_checkpoint(name, caches);
    model.place = checkpoint.folder.string();
    model.model_type = checkpoint.config.model_type();
    architecture_named(checkpoint.config);
    model.supported = true;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kCancelled) throw;
    // A model that cannot be opened is listed all the same; `fovea info` says why it cannot.
  }
  return model;
}

}  // namespace

ModelInfo model_info(const Engine& engine) {
  const Checkpoint& checkpoint = engine.checkpoint();
  ModelInfo info{.name = engine.name(),
                 .folder = checkpoint.folder.string(),
                 .model_type = checkpoint.config.model_type(),
                 .covers = engine.architecture().covers,
                 .facts = engine.facts(),
                 .labels = engine.labels()};
  std::set<std::string> kinds;
  for (const std::string& name : checkpoint.weights.names()) {
    const TensorInfo* tensor = checkpoint.weights.find(name);
    info.parameters += tensor->shape.elements();
    ++info.tensors;
    kinds.insert(tensor->stored_as);
  }
  info.stored_as.assign(kinds.begin(), kinds.end());
  for (const std::string& file : checkpoint.weights.files()) {
    std::error_code error;
    const uint64_t bytes = fs::file_size(file, error);
    if (!error) info.file_bytes += bytes;
  }
  info.tokenizer = tokenizer_text(engine);
  info.hash = engine.model_hash();
  info.unread = unknown_weights(engine.architecture(), checkpoint.weights);
  return info;
}

Json to_json(const ModelInfo& info) {
  Json json = Json::object(
      {{"model", info.name}, {"folder", info.folder}, {"model_type", info.model_type}});
  const ModelFacts& facts = info.facts;
  json.set("layers", facts.main.layers);
  json.set("heads", facts.main.heads);
  json.set("kv_heads", facts.main.kv_heads);
  json.set("head_dim", facts.main.head_dim);
  json.set("width", facts.main.width);
  // Sound has positions in the place of tokens, always as many.
  json.set("vocabulary", facts.text ? facts.text->vocabulary : 0);
  json.set("most_tokens", facts.most_positions());
  json.set("trained_tokens", facts.text ? facts.text->trained_tokens : facts.most_positions());
  json.set("causal", facts.text_stack().causal);
  if (facts.decoder) {
    json.set("decoder_layers", facts.decoder->layers);
    json.set("decoder_heads", facts.decoder->heads);
  }
  if (facts.target) {
    json.set("target_vocabulary", facts.target->vocabulary);
    json.set("most_target_tokens", facts.target->most_tokens);
  }
  if (facts.objects) {
    json.set("object_queries", facts.objects->queries);
    json.set("feature_stride", facts.objects->stride);
    json.set("masks", facts.objects->has_mask_head);
  }
  if (facts.picture) json.set("channels", facts.picture->channels);
  if (facts.picture && !facts.objects) {
    const PictureFacts& picture = *facts.picture;
    json.set("image_size", Json::array_of(std::array{picture.image_height, picture.image_width}));
    json.set("patch_size", Json::array_of(std::array{picture.patch_height, picture.patch_width}));
    json.set("any_image_size", picture.any_size);
    json.set("front_tokens", Json::array_of(picture.front_tokens));
  }
  if (facts.text_tower) {
    json.set("text_layers", facts.text_tower->layers);
    json.set("text_heads", facts.text_tower->heads);
    json.set("text_width", facts.text_tower->width);
  }
  json.set("head", name_of(facts.head));
  json.set("labels", Json::array_of(info.labels));
  json.set("parameters", info.parameters);
  json.set("tensors", info.tensors);
  json.set("stored_as", Json::array_of(info.stored_as));
  json.set("bytes", static_cast<int64_t>(info.file_bytes));
  json.set("tokenizer", info.tokenizer);
  json.set("hash", info.hash);
  json.set("not_read", Json::array_of(info.unread));
  return json;
}

std::vector<LocalModel> local_models(const ModelCaches& caches) {
  std::vector<LocalModel> models;
  std::set<std::string> bundled;
  for (const fs::path& place : caches.bundled) {
    for (const std::string& name : folders_in(place)) {
      if (file_exists(place / name / "config.json") && bundled.insert(name).second) {
        models.push_back(local_model(name, place / name, caches));
      }
    }
  }
  for (const std::string& name : folders_in(caches.models)) {
    models.push_back(local_model(name, caches.models / name, caches));
  }
  for (const std::string& folder : folders_in(caches.hub)) {
    const std::string name = hub_name(folder);
    if (!name.empty()) models.push_back(local_model(name, caches.hub / folder, caches));
  }
  return models;
}

}  // namespace fovea
