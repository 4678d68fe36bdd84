// "Did you mean": the known word nearest to a mistyped one.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace fovea {

// The nearest word of `known`: at most about a third of the letters differ, or it begins with
// `word`. None if no word is that near.
std::optional<std::string> closest(std::string_view word, std::span<const std::string> known);

// " (did you mean 'steps'?)", or "" if nothing is near.
std::string did_you_mean(std::string_view word, std::span<const std::string> known);

}  // namespace fovea
