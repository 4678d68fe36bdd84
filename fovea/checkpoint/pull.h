// Downloads a model into the Hugging Face cache, where resolve_model finds it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/checkpoint/hub.h"
#include "fovea/checkpoint/hub_cache.h"

namespace fovea {

struct PulledModel {
  HubName name;
  std::string commit;
  std::filesystem::path folder;   // the snapshot
  std::vector<HubFile> files;     // in the order of the hub's list
  uint64_t downloaded_bytes = 0;  // now; 0 if all of it was there
};

// The files that fovea reads, without shards of weights: configuration, tokenizer, and weights
// (model.safetensors or its index, else pytorch_model.bin or its index). `file` names other weights
// to take instead. Throws Error{kNotFound} that names what there is.
std::vector<HubFile> choose_files(const HubName& name, const HubModel& model,
                                  std::string_view file);

// The files that an index of shards names, each of which the model must have: Error{kBadFile}.
std::vector<HubFile> list_shards(const HubName& name, const HubModel& model,
                                 const std::filesystem::path& index);

// Downloads and checks everything that is missing, and resumes what was broken off. Whatever
// happens, it keeps what it has, but nobody sees any of it before publish_model(). Shows progress.
PulledModel download_model(Hub& hub, const HubName& name, std::string_view file,
                           const std::filesystem::path& hub_cache);

// Puts the downloaded model where programs look: the files of its snapshot, then the revision.
void publish_model(const PulledModel& model, const std::filesystem::path& hub_cache);

}  // namespace fovea
