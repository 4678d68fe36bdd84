#include "fovea/engine/classes.h"

#include <fmt/format.h>

#include <algorithm>

#include "fovea/explain/target.h"

namespace fovea {

std::string class_name(const std::vector<std::string>& labels, int64_t index) {
  const auto at = static_cast<size_t>(index);
  return at < labels.size() ? labels[at] : fmt::format("class {}", index);
}

ObjectClass object_class(std::span<const float> logits) {
  const int64_t label = std::max_element(logits.begin(), logits.end() - 1) - logits.begin();
  return {label, probabilities(logits)[static_cast<size_t>(label)]};
}

}  // namespace fovea
