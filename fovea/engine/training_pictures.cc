#include "fovea/engine/training_pictures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fovea/explain/target.h"

namespace fovea {
namespace {

// To one place, but never rounded up to what it falls short of.
std::string percent(double share) {
  return fmt::format("{:.1f} %", std::floor(share * 1000) / 10);
}

}  // namespace

Clarity clarity_of(const Engine& engine, const Tensor& logits) {
  Clarity clarity;
  const auto add = [&](double probability) {
    clarity.clearest = std::max(clarity.clearest, probability);
    clarity.doubt += probability * (1 - probability);
  };
  const std::span<const float> values = logits.values<float>();
  if (engine.facts().finds_objects()) {
    const auto classes = static_cast<size_t>(logits.size(1));
    for (size_t row = 0; row + classes <= values.size(); row += classes) {
      std::vector<double> each = probabilities(values.subspan(row, classes));
      each.pop_back();  // that there is no object
      add(*std::ranges::max_element(each));
    }
  } else if (engine.multi_label()) {
    for (const float logit : values) add(sigmoid(double{logit}));
  } else {
    for (const double each : probabilities(values)) add(each);
  }
  return clarity;
}

std::string unlike_training(const Engine& engine, const Tensor& logits) {
  const std::optional<TrainingPictures>& training = engine.checkpoint().training;
  if (!training || logits.empty()) return "";
  const Clarity clarity = clarity_of(engine, logits);
  const bool unclear = clarity.clearest < training->least_clear;
  if (!unclear && !(clarity.doubt > training->most_doubt)) return "";
  const std::string why =
      unclear ? fmt::format("it is surest of something by {}, there by at least {}",
                            percent(clarity.clearest), percent(training->least_clear))
              : fmt::format("its doubt, the sum of p (1 - p), is {:.2f}, there at most {:.2f}",
                            clarity.doubt, training->most_doubt);
  return fmt::format(
      "this picture is unlike the {} that {} was trained on ({}), so what it says here means "
      "little; {}",
      training->what, engine.name(), why, training->instead);
}

}  // namespace fovea
