// The classes that a model answers with: their names, and the class of an object query.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace fovea {

// The label of class `index`, or "class 3" if the model does not name it.
std::string class_name(const std::vector<std::string>& labels, int64_t index);

struct ObjectClass {
  int64_t label = 0;
  double probability = 0;
};
// The class of an object query. The last logit means "no object": it takes part in the softmax but
// is never the class.
ObjectClass object_class(std::span<const float> logits);

}  // namespace fovea
