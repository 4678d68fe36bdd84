// What the cells of a map hold: the weight, or a number made of it.
#pragma once

#include <span>
#include <string_view>

namespace fovea {

enum class MapValue {
  kWeight,
  kTimesEven,      // the weight times the number of keys the row may see: 1 is even attention
  kScore,          // what softmax takes
  kValueWeighted,  // the weight times the length of the value that it takes
};
// "weight", "times-even", "score", "value-weighted".
std::span<const std::string_view> map_value_names();
MapValue map_value_named(std::string_view name);  // throws Error{kInvalidArgument} for another

}  // namespace fovea
