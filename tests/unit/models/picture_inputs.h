// Inputs of models that see pictures, and what tests ask of such models.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fovea/models/model.h"
#include "support/errors.h"
#include "support/random.h"

namespace fovea {

inline ModelInputs picture(int64_t height, int64_t width, int64_t channels = 3) {
  ModelInputs inputs;
  inputs.pixel_values = support::random_tensor({channels, height, width}, 5);
  return inputs;
}

inline ModelInputs caption(std::vector<int64_t> ids = {7, 8, 59}) {
  ModelInputs inputs;
  inputs.input_ids = std::move(ids);
  return inputs;
}

inline std::vector<std::string> sites(const Model& model, const ModelInputs& inputs) {
  Recorder recorder;
  model.forward(inputs, {.recorder = &recorder});
  std::vector<std::string> names;
  for (const auto& record : recorder.take()) names.push_back(to_string(record->site));
  return names;
}

inline ::testing::AssertionResult refused(const Model& model, std::string_view said,
                                          const ModelInputs& inputs) {
  return fails_with(ErrorKind::kInvalidArgument, said, [&] { model.forward(inputs, {}); });
}

}  // namespace fovea
