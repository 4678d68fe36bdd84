#include "fovea/layers/rotary_embedding.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

#include "fovea/base/error.h"
#include "fovea/layers/layer_source.h"

namespace fovea {
namespace {

// The members that describe the rotation, wherever this configuration keeps them.
struct RopeMembers {
  Config members;  // factor, low_freq_factor, ...
  double base = 0;
  std::string type = "default";
};

RopeMembers find_members(const Config& config, double default_base, std::string_view layer_type) {
  RopeMembers rope;
  std::optional<Config> section = config.find_section("rope_parameters");
  if (section && !layer_type.empty()) section = section->find_section(layer_type);
  if (!section) section = config.find_section("rope_scaling");
  rope.base = config.get_double("rope_theta", default_base);
  if (section) {
    rope.members = *section;
    rope.base = section->get_double("rope_theta", rope.base);
    rope.type = section->get_string("rope_type", section->get_string("type", "default"));
    // What Phi-3's first files call it.
    if (rope.type == "su" || (rope.type == "yarn" && section->has("short_factor"))) {
      rope.type = "longrope";
    }
  }
  return rope;
}

int64_t trained_length(const Config& config, const RopeMembers& rope) {
  constexpr std::string_view kOriginal = "original_max_position_embeddings";
  return rope.members.has(kOriginal) ? rope.members.get_size(kOriginal)
         : config.has(kOriginal)     ? config.get_size(kOriginal)
                                     : config.get_size("max_position_embeddings");
}

// Llama 3.1: long waves are slowed down by `factor`, short ones kept, those between blended.
void stretch_llama3(const Config& config, const RopeMembers& rope,
                    std::vector<float>& frequencies) {
  const auto factor = static_cast<float>(positive_number(rope.members, "factor"));
  const auto low = static_cast<float>(positive_number(rope.members, "low_freq_factor"));
  const auto high = static_cast<float>(positive_number(rope.members, "high_freq_factor"));
  if (!(high > low)) {
    fail(ErrorKind::kBadFile,
         "{}: high_freq_factor is {} and low_freq_factor {}; it must be larger", config.source(),
         high, low);
  }
  const auto length = static_cast<float>(trained_length(config, rope));
  for (float& frequency : frequencies) {
    const float wave = 2 * std::numbers::pi_v<float> / frequency;
    if (wave > length / low) {
      frequency /= factor;
    } else if (wave >= length / high) {
      const float share = (length / wave - low) / (high - low);
      frequency = (1 - share) * frequency / factor + share * frequency;
    }
  }
}

double yarn_magnitude(double factor, double weight) {
  return factor <= 1 ? 1.0 : 0.1 * weight * std::log(factor) + 1.0;
}

// YaRN (Peng et al. 2023, arXiv:2309.00071): pairs that turn often within the trained length are
// kept, those that turn less than once are slowed down. Returns the factor of cos and sin.
float stretch_yarn(const Config& config, const RopeMembers& rope, int64_t dim,
                   std::vector<float>& frequencies) {
  const auto length = static_cast<double>(trained_length(config, rope));
  const double factor =
      positive_number(rope.members, "factor",
                      static_cast<double>(config.get_size("max_position_embeddings")) / length);
  const auto pair_of_turns = [&](double turns) {
    return static_cast<double>(dim) * std::log(length / (turns * 2 * std::numbers::pi)) /
           (2 * std::log(rope.base));
  };
  double low = pair_of_turns(rope.members.get_double("beta_fast", 32));
  double high = pair_of_turns(rope.members.get_double("beta_slow", 1));
  if (rope.members.get_bool("truncate", true)) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0);
  high = std::min(high, static_cast<double>(dim - 1));
  if (low == high) high += 0.001;
  for (size_t pair = 0; pair < frequencies.size(); ++pair) {
    const auto ramp =
        static_cast<float>(std::clamp((static_cast<double>(pair) - low) / (high - low), 0.0, 1.0));
    const float slow = frequencies[pair] / static_cast<float>(factor);
    frequencies[pair] = slow * ramp + frequencies[pair] * (1 - ramp);
  }
  if (rope.members.has("attention_factor")) {
    return static_cast<float>(rope.members.get_double("attention_factor"));
  }
  const double weight = rope.members.get_double("mscale", 0);
  const double all = rope.members.get_double("mscale_all_dim", 0);
  if (weight != 0 && all != 0) {
    return static_cast<float>(yarn_magnitude(factor, weight) / yarn_magnitude(factor, all));
  }
  return static_cast<float>(yarn_magnitude(factor, 1));
}

// The frequencies of LongRoPE (Ding et al. 2024, arXiv:2402.13753), one factor per pair.
std::vector<float> stretched_each(const Config& members, std::string_view key, double base,
                                  int64_t dim) {
  const std::vector<double> factors = members.get_doubles(key);
  const auto pairs = static_cast<size_t>((dim + 1) / 2);
  if (factors.size() != pairs ||
      std::ranges::any_of(factors, [](double factor) { return !(factor > 0 && factor < 1e9); })) {
    fail(ErrorKind::kBadFile,
         "{}: rope_scaling.{} has {} factors for {} pairs; there must be one per pair, above 0",
         members.source(), key, factors.size(), pairs);
  }
  std::vector<float> frequencies(pairs);
  for (size_t pair = 0; pair < pairs; ++pair) {
    const float exponent = static_cast<float>(2 * pair) / static_cast<float>(dim);
    frequencies[pair] = 1 / (static_cast<float>(factors[pair]) *
                             static_cast<float>(std::pow(base, double{exponent})));
  }
  return frequencies;
}

// Returns the factor of cos and sin.
float longrope_magnitude(const Config& config, const RopeMembers& rope, double trained) {
  if (rope.members.has("attention_factor")) {
    return static_cast<float>(rope.members.get_double("attention_factor"));
  }
  const double factor =
      positive_number(rope.members, "factor",
                      static_cast<double>(config.get_size("max_position_embeddings")) / trained);
  return factor <= 1 ? 1 : static_cast<float>(std::sqrt(1 + std::log(factor) / std::log(trained)));
}

}  // namespace

int64_t RotaryEmbedding::rotated_part(const Config& config, int64_t head_dim, std::string_view key,
                                      double otherwise) {
  double share = config.get_double(key, otherwise);
  if (const std::optional<Config> rope = config.find_section("rope_parameters")) {
    share = rope->get_double("partial_rotary_factor", share);
  }
  const auto dim =
      share > 0 && share <= 1 ? static_cast<int64_t>(static_cast<double>(head_dim) * share) : 0;
  if (dim < 1 || dim + dim % 2 > head_dim) {
    fail(ErrorKind::kBadFile, "{}: rotates a share of {} of heads of {}; it must be within (0, 1]",
         config.source(), share, head_dim);
  }
  return dim;
}

RotaryEmbedding RotaryEmbedding::plain(int64_t rotated_dim, double base) {
  RotaryEmbedding rotary;
  rotary.frequencies_ = rotary_frequencies(rotated_dim, static_cast<float>(base));
  return rotary;
}

RotaryEmbedding RotaryEmbedding::of_frequencies(std::span<const float> frequencies) {
  RotaryEmbedding rotary;
  rotary.frequencies_.assign(frequencies.begin(), frequencies.end());
  return rotary;
}

RotaryEmbedding RotaryEmbedding::of(const Config& config, int64_t dim, double default_base,
                                    std::string_view layer_type) {
  const RopeMembers rope = find_members(config, default_base, layer_type);
  if (dim < 1 || !(rope.base > 1)) {
    fail(ErrorKind::kBadFile,
         "{}: rotates {} numbers of a head with base {}; there must be some and the base above 1",
         config.source(), dim, rope.base);
  }
  RotaryEmbedding rotary = plain(dim, rope.base);
  if (rope.type == "default" || rope.type == "factors") return rotary;
  if (rope.type == "linear") {
    const auto factor = static_cast<float>(positive_number(rope.members, "factor"));
    for (float& frequency : rotary.frequencies_) frequency /= factor;
  } else if (rope.type == "dynamic") {
    if (dim < 3) {
      fail(ErrorKind::kUnsupported,
           "{}: rotates {} numbers of a head with dynamic stretching, which needs 3 or more",
           config.source(), dim);
    }
    rotary.dynamic_ = Dynamic{rope.base, positive_number(rope.members, "factor"),
                              config.get_size("max_position_embeddings")};
  } else if (rope.type == "llama3") {
    stretch_llama3(config, rope, rotary.frequencies_);
  } else if (rope.type == "yarn") {
    rotary.scale_ = stretch_yarn(config, rope, dim, rotary.frequencies_);
  } else if (rope.type == "longrope") {
    rotary.long_from_ = trained_length(config, rope) + 1;
    rotary.frequencies_ = stretched_each(rope.members, "short_factor", rope.base, dim);
    rotary.long_frequencies_ = stretched_each(rope.members, "long_factor", rope.base, dim);
    rotary.scale_ = longrope_magnitude(config, rope, static_cast<double>(rotary.long_from_ - 1));
  } else {
    fail(ErrorKind::kUnsupported,
         "{}: positions are stretched by '{}', which fovea does not do; it knows default, linear, "
         "dynamic, llama3, yarn and longrope",
         config.source(), rope.type);
  }
  return rotary;
}

void RotaryEmbedding::divide_frequencies(std::span<const float> factors, std::string_view source) {
  if (factors.size() != frequencies_.size() ||
      std::ranges::any_of(factors, [](float factor) { return !(factor > 0); })) {
    fail(ErrorKind::kBadFile,
         "{}: holds {} rotary factors for {} pairs; there must be one per pair, above 0", source,
         factors.size(), frequencies_.size());
  }
  for (size_t pair = 0; pair < factors.size(); ++pair) frequencies_[pair] /= factors[pair];
}

RotaryTable RotaryEmbedding::table(std::span<const int64_t> positions) const {
  const int64_t length = positions.empty() ? 0 : positions.back() + 1;
  if (!dynamic_ || length <= dynamic_->trained_length) {
    const bool is_long = !long_frequencies_.empty() && length >= long_from_;
    return make_rotary_table(positions, is_long ? long_frequencies_ : frequencies_, scale_);
  }
  const auto dim = static_cast<double>(2 * frequencies_.size());
  const double growth = dynamic_->factor * static_cast<double>(length) /
                            static_cast<double>(dynamic_->trained_length) -
                        (dynamic_->factor - 1);
  const double base = dynamic_->base * std::pow(growth, dim / (dim - 2));
  return make_rotary_table(
      positions, rotary_frequencies(static_cast<int64_t>(dim), static_cast<float>(base)), scale_);
}

}  // namespace fovea
