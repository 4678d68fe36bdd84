#include "fovea/cli/draw/draw.h"
#include "fovea/cli/steps/vectors.h"
#include "fuzz/fuzz_touch.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  // The settings are no part of the file; its length picks them.
  const std::vector<std::string>& names = fovea::similarity_names();
  const fovea::StepsSettings settings{.similarity = names[size % names.size()],
                                      .temperature = static_cast<double>(size % 3)};
  try {
    const fovea::StepsProblem problem = fovea::parse_steps(text, "input.json", settings);
    const fovea::StepsResult result = fovea::compute_steps(problem);
    const fovea::StepsView view = fovea::choose_view(problem, {});
    const fovea::Terminal terminal{.width = 40 + static_cast<int>(size % 100),
                                   .colors = fovea::ColorMode::kTrue};
    const fovea::StepsFigure figure = fovea::vector_steps_figure(problem, result, view);
    fovea::require(!fovea::draw(figure, terminal, fovea::inferno()).empty());
    fovea::require(!fovea::vectors_json(problem, result, view).dump().empty());
  } catch (const fovea::Error&) {
  }
  return 0;
}
