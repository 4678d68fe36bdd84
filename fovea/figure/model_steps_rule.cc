// A model's score rule in words: scale, bias, cap, mask.
#include <fmt/ranges.h>

#include <cmath>

#include "fovea/base/utf8.h"
#include "fovea/capture/words.h"
#include "fovea/figure/model_steps_view.h"

namespace fovea {
namespace {

constexpr size_t kMostNamed = 4;  // tokens that a sentence names

bool is_root_scale(const ModelSteps& steps) {
  const double root = 1 / std::sqrt(static_cast<double>(steps.shape.head_dim));
  return std::abs(steps.scale - root) < 1e-6 * root;
}

struct BiasName {
  std::string operator()(const std::monostate&) const { return ""; }
  std::string operator()(const AlibiSlopes&) const {
    return "a penalty that grows with the distance (ALiBi)";
  }
  std::string operator()(const DistanceTable&) const {
    return "a learned bias for each distance between two tokens";
  }
  std::string operator()(const DenseBias&) const {
    return "a learned bias for each pair of places";
  }
  std::string operator()(const PositionTables&) const {
    return "how well content fits relative position (disentangled attention)";
  }
};

std::vector<int64_t> hidden_tokens(const ModelSteps& steps) {
  std::vector<int64_t> hidden;
  for (int64_t j = 0; j < steps.shape.cols; ++j) {
    if (!steps.allowed(j)) hidden.push_back(j);
  }
  return hidden;
}

std::string names_of(const Axis& axis, const std::vector<int64_t>& tokens) {
  std::vector<std::string> names;
  for (const int64_t j : tokens) {
    if (names.size() == kMostNamed) break;
    names.push_back(fmt::format("\"{}\"", isolated(printable(plain_label(axis, j)))));
  }
  return fmt::format("{}{}", fmt::join(names, ", "), tokens.size() > kMostNamed ? ", …" : ".");
}

// What the mask says about any token.
std::string mask_reason(const Mask& mask) {
  if (mask.ahead == 0 && mask.behind) {
    return fmt::format("A token sees itself and the {} before it.", *mask.behind);
  }
  if (mask.ahead == 0) return "No token sees what comes after it.";
  if (mask.behind && mask.ahead) {
    return fmt::format("A token sees {} before and {} after itself.", *mask.behind, *mask.ahead);
  }
  if (!mask.key_group.empty()) return "A token sees its own group only.";
  return "Nobody sees the padding.";
}

}  // namespace

std::string projection_formula(const ModelStepsView& view, char part) {
  const ModelSteps& steps = view.steps;
  if (!steps.block) return fmt::format("{}, as the model made it", part);
  std::string own = view.is_pool() ? "p" : steps.pre_norm ? "norm(x)" : "x";
  const bool bias = part == 'q'   ? steps.query_bias
                    : part == 'k' ? steps.key_bias
                                  : steps.value_bias;
  const bool source = part != 'q' && (view.is_cross() || view.is_pool());
  if (source) own = "s";
  // A detector adds positions to what asks and what is asked, never to what is passed on.
  if (view.adds_positions && part != 'v') own = fmt::format("({} + p)", own);
  return fmt::format("{0} = {1} W{0}{2}", part, own, bias ? fmt::format(" + b{}", part) : "");
}

std::string scaled_formula(const ModelSteps& steps) {
  const std::string scale = short_number(steps.scale);
  return steps.scale == 1       ? "scale 1: as above"
         : is_root_scale(steps) ? fmt::format("s / √{} = {} · s", steps.shape.head_dim, scale)
                                : fmt::format("{} · s", scale);
}

std::string scaled_sentence(const ModelSteps& steps) {
  if (steps.scale == 1) {
    return steps.similarity ? "Nothing is scaled here." : "This model does not scale its scores.";
  }
  return is_root_scale(steps) ? "Wider vectors give larger scores; this keeps their size the same."
                              : "Times the scale that this model has of its own.";
}

std::string bias_sentence(const ScoreRule& rule) {
  return fmt::format("Added: {}.", std::visit(BiasName(), rule.bias));
}

std::string mask_formula(const ModelStepsView& view) {
  const Mask& mask = view.rule.mask;
  std::vector<std::string> parts;
  if (mask.ahead == 0) {
    parts.emplace_back("j > i");
  } else if (mask.ahead) {
    parts.push_back(fmt::format("j > i + {}", *mask.ahead));
  }
  if (mask.behind) parts.push_back(fmt::format("j < i - {}", *mask.behind));
  if (!mask.key_valid.empty()) parts.emplace_back("j is padding");
  if (!mask.key_group.empty()) parts.emplace_back("j is of another group");
  if (parts.empty()) return "no mask: every token sees every token";
  return fmt::format("-∞ where {}", fmt::join(parts, " or "));
}

std::string mask_sentence(const ModelStepsView& view) {
  const Mask& mask = view.rule.mask;
  if (!mask.ahead && !mask.behind && mask.range_only()) return "";
  const std::vector<int64_t> hidden = hidden_tokens(view.steps);
  const auto all = static_cast<size_t>(view.steps.shape.cols);
  const std::string reason = mask_reason(mask);
  if (hidden.empty()) return fmt::format("{} {} sees all {}.", reason, view.token_name(), all);
  if (hidden.size() == all) return fmt::format("{} {} sees no token.", reason, view.token_name());
  return fmt::format("{} Hidden from {}: {} of {}, {}", reason, view.token_name(), hidden.size(),
                     all, names_of(view.cols, hidden));
}

}  // namespace fovea
