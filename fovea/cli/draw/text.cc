#include "fovea/cli/draw/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fovea/base/utf8.h"

namespace fovea {
namespace {

// Adds `part` to the last line of `text`, after `joint`, or to a new line if it does not fit.
void add_wrapped(std::string& text, int& column, std::string_view joint, std::string_view part,
                 int width) {
  const int needed = display_width(joint) + display_width(part);
  if (column > 0 && column + needed > width) {
    text += '\n';
    column = 0;
  }
  if (column > 0) {
    text += joint;
    column += display_width(joint);
  }
  text += part;
  column += display_width(part);
}

void add_words(std::string& text, int& column, std::string_view part, int width) {
  while (!part.empty()) {
    const size_t end = std::min(part.find(' '), part.size());
    add_wrapped(text, column, " ", shorten(part.substr(0, end), width), width);
    part.remove_prefix(std::min(end + 1, part.size()));
  }
}

}  // namespace

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    lines.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

std::string told_text(std::string_view text) {
  constexpr std::string_view kFirst = "\u2068", kLast = "\u2069";
  const size_t begin = text.find(kFirst), end = text.find(kLast, begin);
  if (begin == text.npos || end == text.npos) return printable(text);
  const size_t inner = begin + kFirst.size();
  // No part is a space by itself, which would become a sign.
  return printable(text.substr(0, begin)) + isolated(text.substr(inner, end - inner)) +
         told_text(text.substr(end + kLast.size()));
}

std::string repeated(std::string_view text, int64_t count) {
  std::string result;
  for (int64_t i = 0; i < count; ++i) result += text;
  return result;
}

std::string padded_left(std::string_view text, int width) {
  return repeated(" ", width - display_width(text)) + std::string(text);
}

std::string padded_right(std::string_view text, int width) {
  return std::string(text) + repeated(" ", width - display_width(text));
}

std::string centred(std::string_view text, int width) {
  const int left = std::max(0, (width - display_width(text) + 1) / 2);
  return padded_right(repeated(" ", left) + std::string(text), width);
}

std::string label_of(const Axis& axis, int64_t index, int width) {
  return isolated(shorten(printable(axis.positions[static_cast<size_t>(index)].text), width));
}

int widest_label(const Axis& axis, int most) {
  int widest = 1;
  for (const Position& position : axis.positions) {
    widest = std::max(widest, display_width(printable(position.text)));
    if (widest >= most) return most;
  }
  return widest;
}

std::string short_weight(double weight) {
  if (std::isnan(weight)) return "·";
  if (std::abs(weight) >= 0.995) return fmt::format("{:.1f}", weight);
  const auto hundredths = std::lround(weight * 100);
  if (hundredths == 0) return "0";
  return fmt::format("{}.{:02}", hundredths < 0 ? "-" : "", std::abs(hundredths));
}

std::string wrapped(std::string_view text, int width) {
  constexpr std::string_view kJoint = " · ";
  std::string result;
  int column = 0;
  while (true) {
    const size_t end = std::min(text.find(kJoint), text.size());
    const std::string_view part = text.substr(0, end);
    if (display_width(part) <= width) {
      add_wrapped(result, column, kJoint, part, width);
    } else {
      if (column > 0) result += '\n';
      column = 0;
      add_words(result, column, part, width);
    }
    if (end == text.size()) return result;
    text.remove_prefix(end + kJoint.size());
  }
}

std::string words_wrapped(std::string_view text, int width) {
  std::string result;
  int column = 0;
  add_words(result, column, text, width);
  return result;
}

std::string without_trailing_spaces(std::string_view text) {
  std::string result;
  size_t spaces = 0;
  for (const char letter : text) {
    if (letter == ' ') {
      ++spaces;
      continue;
    }
    if (letter != '\n') result.append(spaces, ' ');
    spaces = 0;
    result += letter;
  }
  return result;
}

std::string title_lines(const FigureText& text, const Terminal& terminal) {
  std::string lines;
  for (const std::string& line : lines_of(wrapped(told_text(text.title), terminal.width))) {
    lines += terminal.bold(line) + "\n";
  }
  if (!text.subtitle.empty()) {
    lines += terminal.dim(wrapped(told_text(text.subtitle), terminal.width)) + "\n";
  }
  if (!text.badge.empty()) {
    const std::string badge = shorten(printable(text.badge), terminal.width - 2);
    lines +=
        terminal.has_color() ? terminal.on({208, 28, 46}, " " + badge + " ") : "[" + badge + "]";
    lines += "\n";
  }
  return lines + "\n";
}

std::string caption_lines(const FigureText& text, const Terminal& terminal) {
  return wrapped(told_text(text.caption), terminal.width) + "\n";
}

}  // namespace fovea
