#include "fovea/cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <vector>

#include "fovea/base/error.h"
#include "fovea/base/parse.h"
#include "fovea/base/utf8.h"

namespace fovea {
namespace {

constexpr int kNarrowestTerminal = 40;

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

std::vector<std::string>& waiting_notes() {
  static std::vector<std::string> notes;
  return notes;
}

std::string styled(const Terminal& terminal, std::string_view code, std::string_view text) {
  return terminal.has_color() ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : std::string(text);
}

// One channel on the cube of 6 x 6 x 6 colours.
constexpr std::array<int, 6> kCubeLevels{0, 95, 135, 175, 215, 255};

int nearest_level(int value) {
  const auto distance = [value](int level) { return std::abs(level - value); };
  return static_cast<int>(std::ranges::min_element(kCubeLevels, {}, distance) -
                          kCubeLevels.begin());
}

int squared_distance(Rgb color, int red, int green, int blue) {
  const int r = color.red - red;
  const int g = color.green - green;
  const int b = color.blue - blue;
  return r * r + g * g + b * b;
}

bool is_set(const char* name) {
  return !environment(name).empty() && environment(name) != "0";
}

ColorMode colors_of_environment(bool is_terminal) {
  const std::string_view kind = environment("TERM");
  const std::string_view forced = is_set("FORCE_COLOR") ? environment("FORCE_COLOR") : "";
  if (!environment("NO_COLOR").empty()) return ColorMode::kNone;
  if (forced.empty() && !is_set("CLICOLOR_FORCE")) {
    const bool can = !kind.empty() && kind != "dumb" && !kind.starts_with("vt");
    if (!is_terminal || !can) return ColorMode::kNone;
  }
  const std::string_view offered = environment("COLORTERM");
  const bool all = offered == "truecolor" || offered == "24bit" || kind.ends_with("-direct");
  if (forced == "3" || (all && forced != "2")) return ColorMode::kTrue;
  return ColorMode::k256;
}

std::optional<int> columns_of_environment() {
  return parse_number<int>(environment("COLUMNS"));
}

}  // namespace

std::string Terminal::bold(std::string_view text) const {
  return styled(*this, "1", text);
}

std::string Terminal::dim(std::string_view text) const {
  return styled(*this, "2", text);
}

std::string Terminal::accent(std::string_view text) const {
  return styled(*this, "36", text);
}

std::string Terminal::marked(std::string_view text) const {
  return styled(*this, "1;4;31", text);
}

std::string Terminal::on(Rgb background, std::string_view text) const {
  return painted(text_color_on(background), background, text);
}

std::string Terminal::ink(Rgb letters, std::string_view text) const {
  return colors == ColorMode::kTrue
             ? styled(*this, fmt::format("38;2;{};{};{}", letters.red, letters.green, letters.blue),
                      text)
             : styled(*this, fmt::format("38;5;{}", nearest_256(letters)), text);
}

std::string Terminal::painted(Rgb letters, Rgb background, std::string_view text) const {
  switch (colors) {
    case ColorMode::kNone:
      break;
    case ColorMode::k256:
      return fmt::format("\x1b[38;5;{};48;5;{}m{}\x1b[0m", nearest_256(letters),
                         nearest_256(background), text);
    case ColorMode::kTrue:
      return fmt::format("\x1b[38;2;{};{};{};48;2;{};{};{}m{}\x1b[0m", letters.red, letters.green,
                         letters.blue, background.red, background.green, background.blue, text);
  }
  return std::string(text);
}

int nearest_256(Rgb color) {
  const int red = nearest_level(color.red);
  const int green = nearest_level(color.green);
  const int blue = nearest_level(color.blue);
  const auto level = [](int index) { return kCubeLevels[static_cast<size_t>(index)]; };
  // Greys 232 to 255 are 8, 18, ... 238.
  const int mean = (color.red + color.green + color.blue) / 3;
  const int grey = std::clamp((mean - 8 + 5) / 10, 0, 23);
  const int grey_level = 8 + 10 * grey;
  const bool cube_is_nearer = squared_distance(color, level(red), level(green), level(blue)) <=
                              squared_distance(color, grey_level, grey_level, grey_level);
  return cube_is_nearer ? 16 + 36 * red + 6 * green + blue : 232 + grey;
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
  terminal.width = std::clamp(terminal.width, kNarrowestTerminal, 1000);
  terminal.colors = colors_of_environment(is_terminal);
  return terminal;
}

void add_note(std::string text) {
  waiting_notes().push_back(std::move(text));
}

void write_notes() {
  for (const std::string& note : waiting_notes()) {
    std::fprintf(stderr, "fovea: note: %s\n", printable(note).c_str());
  }
  waiting_notes().clear();
}

void write_stdout(std::string_view text) {
  write_notes();
  while (!text.empty()) {
    const ssize_t count = ::write(STDOUT_FILENO, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      fail(ErrorKind::kIo, "standard output cannot be written: {}", std::strerror(errno));
    }
    text.remove_prefix(static_cast<size_t>(count));
  }
}

}  // namespace fovea
