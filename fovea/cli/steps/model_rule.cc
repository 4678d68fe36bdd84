// A model's score rule in words: scale, bias, cap, mask.
#include <fmt/ranges.h>

#include <cmath>

#include "fovea/capture/words.h"
#include "fovea/cli/number_format.h"
#include "fovea/cli/steps/model.h"

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

std::string named(const Axis& axis, const std::vector<int64_t>& tokens) {
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
  std::string own = view.is_pool() ? "p" : steps.pre_norm ? "norm(x)" : "x";
  const bool bias = part == 'q'   ? steps.query_bias
                    : part == 'k' ? steps.key_bias
                                  : steps.value_bias;
  const bool source = part != 'q' && (view.is_cross() || view.is_pool());
  if (source) own = "s";
  // A detector adds positions to what asks and what is asked, never to what is passed on.
  if (view.facts.finds_objects() && part != 'v') own = fmt::format("({} + p)", own);
  return fmt::format("{0} = {1} W{0}{2}", part, own, bias ? fmt::format(" + b{}", part) : "");
}

std::string scaled_formula(const ModelStepsView& view) {
  const ModelSteps& steps = view.steps;
  std::string formula =
      steps.scale == 1 ? "scale 1: as above"
      : is_root_scale(steps)
          ? fmt::format("s / √{} = {} · s", steps.shape.head_dim, short_number(steps.scale))
          : fmt::format("{} · s", short_number(steps.scale));
  if (!steps.bias.empty()) formula += " + bias";
  if (!steps.capped.empty()) {
    formula += fmt::format(",  then {0} · tanh(s / {0})", short_number(view.rule.soft_cap));
  }
  return formula;
}

std::string scaled_sentence(const ModelStepsView& view) {
  const ModelSteps& steps = view.steps;
  std::string sentence =
      steps.scale == 1
          ? (steps.similarity ? "Nothing is scaled here." : "This model does not scale its scores.")
      : is_root_scale(steps) ? "Wider vectors give larger scores; this keeps their size the same."
                             : "Times the scale that this model has of its own.";
  if (!steps.bias.empty())
    sentence += fmt::format(" Added: {}.", std::visit(BiasName(), view.rule.bias));
  if (!steps.capped.empty()) {
    sentence += fmt::format(" The soft cap keeps every score between -{0} and {0}.",
                            short_number(view.rule.soft_cap));
  }
  return sentence;
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
                     all, named(view.cols, hidden));
}

}  // namespace fovea
