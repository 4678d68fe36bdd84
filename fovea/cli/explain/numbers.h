// Explanations as data for other programs.
#pragma once

#include <filesystem>
#include <string>

#include "fovea/base/json.h"
#include "fovea/cli/explain/question.h"
#include "fovea/explain/faithfulness/faithfulness.h"

namespace fovea {

// Model, method, row, target: what was asked, and where it was checked the grades. Goes into every
// file.
Json explanation_metadata(const ExplainQuestion& question, const Explanation& explanation,
                          const FaithfulnessCard* card = nullptr);

// The same with names and scores of all positions, the notes, and the curves of the check.
Json explanation_json(const ExplainQuestion& question, const Explanation& explanation,
                      const FaithfulnessCard* card = nullptr);

// .npy: the scores, f32 [positions], of heads [layers, heads]. .npz and .safetensors: `scores` and,
// where the method counts what a decoder has read, `target_scores`. .csv: index, name and score of
// each position. `metadata` as explanation_metadata() gives it. Atomic.
void write_explanation_numbers(const std::filesystem::path& path, const Explanation& explanation,
                               const Json& metadata);

}  // namespace fovea
