// Who is looked at most? Reads a captured run and prints, for every head of its last layer, the
// token that receives most attention in all. No matrix is made: sums stream over the rows.
//
//   fovea capture "The cat sat on the mat." --out run.fovea.safetensors
//   column_sums run.fovea.safetensors
#include <fmt/format.h>

#include <algorithm>

#include "fovea/atlas/attention_map.h"
#include "fovea/capture/run_file.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: column_sums RUN.fovea.safetensors\n");
    return 2;
  }
  try {
    const fovea::Run run = fovea::load_run(argv[1]);
    const auto record = run.records.back();
    const fovea::Axis* columns = run.find_axis(record->col_axis);
    for (int64_t head = 0; head < record->shape().heads; ++head) {
      const std::vector<double> sums = fovea::AttentionMap(record, head).column_sums();
      const auto most = std::max_element(sums.begin(), sums.end()) - sums.begin();
      fmt::print("{} head {:2}: {} receives {:.2f} of {}\n", to_string(record->site), head,
                 columns->positions[static_cast<size_t>(most)].text,
                 sums[static_cast<size_t>(most)], record->shape().rows);
    }
  } catch (const fovea::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
