// What Python's texts can do.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fovea::jinja {

// Without the characters of `drop` at either end; empty: without white space.
std::string stripped(std::string_view text, std::string_view drop, bool left, bool right);
std::string in_lower_case(std::string_view text);
// Throws Error{kUnsupported} for letters beyond ASCII whose upper case has no simple rule.
std::string in_upper_case(std::string_view text);
// The first letter large and the rest small.
std::string capitalized(std::string_view text);
// The same for each word.
std::string titled(std::string_view text);
// `most` < 0: all.
std::string with_replaced(std::string_view text, std::string_view from, std::string_view to,
                          int64_t most);
// At `separator`, or without one at white space, whose runs are one.
std::vector<std::string> split(std::string_view text, const std::string* separator, int64_t most,
                               bool from_right);

}  // namespace fovea::jinja
