#include "fovea/cli/explain/numbers.h"

#include <fmt/format.h>

#include "fovea/base/file.h"
#include "fovea/base/version.h"
#include "fovea/cli/map_out.h"
#include "fovea/io/npy.h"
#include "fovea/io/npz.h"
#include "fovea/io/safetensors.h"

namespace fovea {
namespace {

Tensor scores_tensor(const AxisScores& of) {
  const std::vector<float> values(of.scores.begin(), of.scores.end());
  const Tensor scores = Tensor::from<float>({static_cast<int64_t>(values.size())}, values);
  return of.axis.name == "heads" ? scores.reshaped({of.axis.grid_rows, of.axis.grid_cols}) : scores;
}

std::vector<NamedTensor> tensors_of(const std::vector<AxisScores>& scores) {
  std::vector<NamedTensor> tensors{{"scores", scores_tensor(scores.front())}};
  if (scores.size() > 1) tensors.push_back({"target_scores", scores_tensor(scores.back())});
  return tensors;
}

std::string csv_of(const std::vector<AxisScores>& scores) {
  std::string text = "axis,index,position,score\n";
  for (const AxisScores& of : scores) {
    for (size_t i = 0; i < of.scores.size(); ++i) {
      text += fmt::format("{},{},{},{:.9g}\n", of.axis.name, i, csv_text(of.axis.positions[i].text),
                          of.scores[i]);
    }
  }
  return text;
}

}  // namespace

void write_explanation_numbers(const std::filesystem::path& path, const Answer& answer) {
  const std::vector<AxisScores>& scores = answer.scores;
  const std::string suffix = lower_suffix(path);
  if (suffix == ".npy") {
    write_npy(path, scores_tensor(scores.front()));
  } else if (suffix == ".npz") {
    write_npz(path, tensors_of(scores));
  } else if (suffix == ".safetensors") {
    write_safetensors(path, tensors_of(scores),
                      {{"program", fmt::format("fovea {}", version())},
                       {"explanation", text_in(answer.figure).metadata.dump()},
                       {"positions", position_texts(scores.front().axis).dump()}});
  } else {
    const std::string text = csv_of(scores);
    write_file_atomic(path, [&](FileWriter& file) { file.write(text); });
  }
}

}  // namespace fovea
