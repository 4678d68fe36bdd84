// The numbers of explanations as files for other programs.
#pragma once

#include <filesystem>

#include "fovea/ask/answer.h"

namespace fovea {

// .npy: the scores, f32 [positions], of heads [layers, heads]. .npz and .safetensors: `scores` and,
// where the method counts what a decoder has read, `target_scores`. .csv: index, name and score of
// each position. Atomic.
void write_explanation_numbers(const std::filesystem::path& path, const Answer& answer);

}  // namespace fovea
