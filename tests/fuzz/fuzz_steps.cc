#include "fovea/ask/vectors.h"
#include "fovea/cli/draw/draw.h"
#include "fuzz/fuzz_touch.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  // The settings are no part of the file; its length picks them.
  const std::vector<std::string>& names = fovea::similarity_names();
  const fovea::Json question = fovea::Json::object(
      {{"similarity", names[size % names.size()]}, {"temperature", static_cast<double>(size % 3)}});
  try {
    const fovea::VectorSteps steps = fovea::ask_vectors(text, "input.json", question);
    const fovea::Terminal terminal{.width = 40 + static_cast<int>(size % 100),
                                   .colors = fovea::ColorMode::kTrue};
    const fovea::StepsFigure figure =
        fovea::vector_steps_figure(steps.problem, steps.result, steps.view);
    fovea::require(!fovea::draw(figure, terminal, fovea::inferno()).empty());
    fovea::require(!fovea::vectors_json(steps).dump().empty());
  } catch (const fovea::Error&) {
  }
  return 0;
}
