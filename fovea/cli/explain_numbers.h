// Explanations as data for other programs.
#pragma once

#include <filesystem>
#include <string>

#include "fovea/base/json.h"
#include "fovea/cli/explain_question.h"

namespace fovea {

// Model, method, row, target: what was asked. Goes into every file.
Json explanation_metadata(const ExplainQuestion& question, const Explanation& explanation);

// The same with names and scores of all positions, and the notes.
Json explanation_json(const ExplainQuestion& question, const Explanation& explanation);

// .npy: the scores, f32 [positions], of heads [layers, heads]. .npz and .safetensors: `scores` and,
// where the method counts what a decoder has read, `target_scores`. .csv: index, name and score of
// each position. Atomic.
void write_explanation_numbers(const std::filesystem::path& path, const ExplainQuestion& question,
                               const Explanation& explanation);

// "0.25", "1.3e-05": as many digits as say something.
std::string number_text(double value);

}  // namespace fovea
