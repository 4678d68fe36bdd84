#include "fovea/cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"

namespace fovea {
namespace {

constexpr int kNarrowest = 40;

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

std::string styled(bool on, std::string_view code, std::string_view text) {
  return on ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : std::string(text);
}

std::optional<int> columns_of_environment() {
  const std::string_view text = environment("COLUMNS");
  int columns = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), columns);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return {};
  return columns;
}

// Characters that move the cursor or reorder the line: C1 controls and bidirectional marks.
bool is_unsafe(std::string_view character) {
  if (character.size() == 2 && character[0] == '\xc2') {
    return static_cast<unsigned char>(character[1]) < 0xa0;
  }
  static constexpr std::string_view kMarks[] = {"\u061c", "\u200e", "\u200f", "\u2028", "\u2029",
                                                "\u202a", "\u202b", "\u202c", "\u202d", "\u202e",
                                                "\u2066", "\u2067", "\u2068", "\u2069", "\ufeff"};
  return std::ranges::find(kMarks, character) != std::end(kMarks);
}

size_t character_bytes(char first) {
  const auto byte = static_cast<unsigned char>(first);
  return byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}

}  // namespace

std::string Terminal::bold(std::string_view text) const {
  return styled(color, "1", text);
}

std::string Terminal::dim(std::string_view text) const {
  return styled(color, "2", text);
}

std::string Terminal::accent(std::string_view text) const {
  return styled(color, "36", text);
}

std::string Terminal::on(Rgb background, std::string_view text) const {
  if (!color) return std::string(text);
  const Rgb letters = text_color_on(background);
  return fmt::format("\x1b[38;2;{};{};{};48;2;{};{};{}m{}\x1b[0m", letters.red, letters.green,
                     letters.blue, background.red, background.green, background.blue, text);
}

Terminal stdout_terminal() {
  Terminal terminal;
  const bool is_terminal = ::isatty(STDOUT_FILENO) == 1;
  winsize size{};
  if (is_terminal && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    terminal.width = size.ws_col;
  } else if (const auto columns = columns_of_environment()) {
    terminal.width = *columns;
  }
  terminal.width = std::clamp(terminal.width, kNarrowest, 1000);
  const std::string_view kind = environment("TERM");
  terminal.color =
      is_terminal && environment("NO_COLOR").empty() && !kind.empty() && kind != "dumb";
  return terminal;
}

void write_stdout(std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(STDOUT_FILENO, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      fail(ErrorKind::kIo, "standard output cannot be written: {}", std::strerror(errno));
    }
    text.remove_prefix(static_cast<size_t>(count));
  }
}

std::string printable(std::string_view text) {
  if (text == " ") return "␣";
  const std::string valid = to_valid_utf8(text);
  std::string result;
  for (size_t offset = 0; offset < valid.size();) {
    const std::string_view character =
        std::string_view(valid).substr(offset, character_bytes(valid[offset]));
    const auto first = static_cast<unsigned char>(character.front());
    if (first == '\n' || first == '\r') {
      result += "↵";
    } else if (first == '\t') {
      result += "⇥";
    } else if (first < 0x20 || first == 0x7f || is_unsafe(character)) {
      result += "\uFFFD";
    } else {
      result += character;
    }
    offset += character.size();
  }
  return result;
}

}  // namespace fovea
