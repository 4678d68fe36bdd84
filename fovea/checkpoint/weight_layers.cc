#include "fovea/checkpoint/weight_layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <set>

#include "fovea/base/parse.h"

namespace fovea {
namespace {

constexpr int64_t kFront = -1;
constexpr int64_t kTop = std::numeric_limits<int64_t>::max();
constexpr int64_t kDecoder = 1 << 20;  // more than an encoder has layers

bool holds_one(std::string_view name, std::initializer_list<std::string_view> parts) {
  return std::ranges::any_of(parts,
                             [&](std::string_view part) { return name.find(part) != name.npos; });
}

// The first part between dots that is a number: "encoder.layer.3.attention.self.query.weight".
std::optional<int64_t> layer_number(std::string_view name) {
  while (!name.empty()) {
    const std::string_view part = name.substr(0, name.find('.'));
    const auto number = parse_number<int64_t>(part);
    if (number && *number < kDecoder) return number;
    name.remove_prefix(std::min(part.size() + 1, name.size()));
  }
  return {};
}

int64_t height_of(std::string_view name) {
  if (holds_one(name, {"backbone", "conv_encoder"})) return kFront;
  if (holds_one(name, {"predictor", "classifier"})) return kTop;
  if (const auto number = layer_number(name)) {
    return *number + (holds_one(name, {"decoder"}) ? kDecoder : 0);
  }
  const bool front = holds_one(
      name, {"embed", "wte", "wpe", "token", "shared", "position", "patch", "input_projection"});
  return front ? kFront : kTop;
}

}  // namespace

bool WeightsAbove::holds(std::string_view tensor) const {
  return height_of(tensor) >= height;
}

std::vector<WeightsAbove> weights_from_the_top(const std::vector<std::string>& names) {
  std::set<int64_t, std::greater<>> heights;
  for (const std::string& name : names) {
    const int64_t height = height_of(name);
    if (height != kFront && height != kTop) heights.insert(height);
  }
  const bool two = !heights.empty() && *heights.begin() >= kDecoder && *heights.rbegin() < kDecoder;
  std::vector<WeightsAbove> parts;
  for (const int64_t height : heights) {
    const std::string_view stack = !two ? "" : height >= kDecoder ? "decoder " : "encoder ";
    parts.push_back({fmt::format("{}layer {} and above", stack, height % kDecoder), height});
  }
  return parts;
}

}  // namespace fovea
