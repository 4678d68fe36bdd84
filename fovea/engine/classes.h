// Classes that a model answers with: what they are called, and the one of an object query.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace fovea {

// Its label, one of Engine::labels(), or "class 3" where there is none.
std::string class_name(const std::vector<std::string>& labels, int64_t index);

struct ObjectClass {
  int64_t label = 0;
  double probability = 0;
};
// Of an object query. The last logit is that of "no object", which takes part in the softmax but is
// never the class.
ObjectClass object_class(std::span<const float> logits);

}  // namespace fovea
