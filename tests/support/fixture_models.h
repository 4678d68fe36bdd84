// The tiny checkpoints of tests/data/parity as models, and models out of sources in memory.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "fovea/checkpoint/checkpoint.h"
#include "fovea/models/model.h"
#include "support/data.h"

namespace fovea {

inline std::filesystem::path parity_folder(std::string_view name) {
  return test_data("parity") / name;
}

// The model of a fixture, with members of its config.json replaced (null takes one away).
inline std::unique_ptr<Model> fixture_model(std::string_view name,
                                            const std::vector<Json::Member>& changes = {}) {
  const Checkpoint checkpoint = open_checkpoint(parity_folder(name).string());
  Json json = checkpoint.config.json();
  for (const auto& [key, value] : changes) json.set(key, value);
  const Config config(std::move(json), checkpoint.config.source());
  return architecture_named(config).build({config, {checkpoint.weights, DType::kF32}});
}

}  // namespace fovea
