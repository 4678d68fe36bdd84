// Running text with every token shaded by its weight and the chosen one marked.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fovea/base/utf8.h"
#include "fovea/cli/draw/cells.h"
#include "fovea/cli/draw/draw.h"
#include "fovea/cli/draw/text.h"
#include "fovea/cli/table.h"

namespace fovea {
namespace {

constexpr std::string_view kSpace = " \t\r\n\v\f";

// A token as it stands in the text.
struct Piece {
  std::string text;
  int64_t index = 0;
  bool space_before = false;
  bool line_before = false;
  int width = 0;  // with its marks
};

// A share in percent as small raised digits, for terminals without colours.
std::string raised_percent(double share) {
  static constexpr std::string_view kDigits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  const auto percent = std::isnan(share) ? 0 : std::lround(share * 100);
  std::string text;
  if (percent == 0) return text;
  if (percent < 0) text += "⁻";
  for (const char digit : std::to_string(std::abs(percent))) text += kDigits[digit - '0'];
  return text;
}

class ReadPainter {
 public:
  ReadPainter(const ReadFigure& figure, const Terminal& terminal, const ColorMap& colors)
      : figure_(figure), terminal_(terminal), cells_(terminal, colors, figure.scale) {
    cut_text();
  }

  std::string text() {
    for (size_t first = 0; first < pieces_.size();) {
      size_t last = first + 1;  // [first, last) has no space inside
      int width = pieces_[first].width;
      while (last < pieces_.size() && !pieces_[last].space_before && !pieces_[last].line_before) {
        width += pieces_[last++].width;
      }
      const bool space = pieces_[first].space_before && column_ > 0;
      if (pieces_[first].line_before && column_ > 0) {
        end_line();
      } else if (column_ > 0 && column_ + (space ? 1 : 0) + width > terminal_.width &&
                 width <= terminal_.width) {
        end_line();
      } else if (space) {
        line_ += ' ';
        ++column_;
      }
      for (; first < last; ++first) add(pieces_[first]);
    }
    end_line();
    return std::move(text_);
  }

  // The five largest weights with bars.
  std::string largest() const {
    constexpr size_t kCount = 5;
    constexpr int kWidestLabel = 20;
    constexpr int kBarColumns = 24;
    std::vector<size_t> order;
    for (size_t i = 0; i < figure_.weights.size(); ++i) {
      if (!std::isnan(figure_.weights[i]) && figure_.weights[i] != 0) order.push_back(i);
    }
    const auto size = [&](size_t i) { return std::abs(double{figure_.weights[i]}); };
    std::ranges::stable_sort(order, [&](size_t a, size_t b) { return size(a) > size(b); });
    order.resize(std::min(order.size(), kCount));
    const double largest = order.empty() ? 1 : size(order.front());
    const bool numbers = are_numbers(figure_.axis, figure_.place);
    int label_width = numbers ? 0 : 1;
    int digits = 1;
    size_t score_width = 1;
    for (const size_t i : order) {
      score_width = std::max(score_width, score_text(i, largest).size());
      if (!numbers) label_width = std::max(label_width, display_width(label(i, kWidestLabel)));
      digits = std::max(digits, static_cast<int>(number_of(i).size()));
    }
    const bool some_negative =
        std::ranges::any_of(order, [&](size_t i) { return figure_.weights[i] < 0; });
    const int room = std::clamp(
        terminal_.width - label_width - digits - static_cast<int>(score_width) - 7, 0, kBarColumns);
    std::string text;
    for (const size_t i : order) {
      const std::string name = numbers ? "" : label(i, kWidestLabel);
      const bool chosen = !numbers && static_cast<int64_t>(i) == figure_.chosen;
      text += "  " + terminal_.dim(padded_left(number_of(i), digits)) + (numbers ? "" : " ") +
              (chosen ? terminal_.marked(name) : name) +
              repeated(" ", label_width - display_width(name)) +
              fmt::format("  {:>{}}  ", score_text(i, largest), score_width) +
              (some_negative ? signed_bar(double{figure_.weights[i]} / largest, room)
                             : bar(size(i) / largest, room)) +
              "\n";
    }
    return text;
  }

  std::string legend() const {
    const bool forbidden =
        std::ranges::any_of(figure_.weights, [](float weight) { return std::isnan(weight); });
    if (!terminal_.has_color()) {
      return wrapped(fmt::format("raised numbers: {} in percent{}, none below 1",
                                 is_weight() ? "weight" : figure_.value_name,
                                 is_weight() ? "" : " of the largest") +
                         (figure_.chosen >= 0 ? " · [ ] the chosen token" : "") +
                         (forbidden ? " · tokens it may not see have none either" : ""),
                     terminal_.width) +
             "\n";
    }
    bool clipped = false;
    for (const Piece& piece : pieces_) {
      clipped = clipped || (piece.index != figure_.chosen &&
                            double{weight_of(piece)} > figure_.scale.high * 1.0001);
    }
    std::string text = cells_.legend(false, clipped);
    if (forbidden) text += terminal_.dim("dim: not allowed, the mask hides it") + "\n";
    return text;
  }

 private:
  // A share of 1; other numbers may be of any size.
  bool is_weight() const { return figure_.value_name == "attention weight"; }

  // With so many decimals that the largest has two digits, three at least.
  std::string score_text(size_t i, double largest) const {
    constexpr int kMostDecimals = 6;
    const double score = double{figure_.weights[i]};
    const double digits = std::clamp(std::floor(std::log10(largest)), -100.0, 100.0);
    const int decimals = std::max(3, 1 - static_cast<int>(digits));
    return decimals > kMostDecimals ? fmt::format("{:.1e}", score)
                                    : fmt::format("{:.{}f}", score, decimals);
  }

  // In the whole text.
  std::string number_of(size_t i) const {
    return std::to_string(figure_.place.of(static_cast<int64_t>(i)));
  }

  std::string label(size_t index, int width) const {
    return label_of(figure_.axis, static_cast<int64_t>(index), width);
  }

  // From the source text where positions have their place in it, so that spaces and line breaks are
  // those of the text.
  void cut_text() {
    const std::string& source = figure_.axis.source;
    int64_t cursor = 0;
    bool special_before = false;
    for (size_t i = 0; i < figure_.axis.positions.size(); ++i) {
      const Position& position = figure_.axis.positions[i];
      Piece piece{.index = static_cast<int64_t>(i)};
      const bool in_source = !position.special && position.source_begin >= cursor &&
                             position.source_end > position.source_begin;
      if (in_source) {
        const std::string_view before = std::string_view(source).substr(
            static_cast<size_t>(cursor), static_cast<size_t>(position.source_begin - cursor));
        std::string_view own = std::string_view(source).substr(
            static_cast<size_t>(position.source_begin),
            static_cast<size_t>(position.source_end - position.source_begin));
        const size_t letters = std::min(own.find_first_not_of(kSpace), own.size());
        const std::string_view space = own.substr(0, letters);
        piece.line_before = before.find('\n') != std::string_view::npos ||
                            (letters < own.size() && space.find('\n') != std::string_view::npos);
        piece.space_before = before.find_first_of(kSpace) != std::string_view::npos ||
                             (letters < own.size() && letters > 0) || special_before;
        piece.text = letters < own.size() ? own.substr(letters) : position.text;
        cursor = position.source_end;
      } else {
        piece.text = position.text;
        piece.space_before = position.special || special_before || source.empty();
      }
      special_before = position.special;
      finish(piece);
    }
  }

  void finish(Piece& piece) {
    piece.text = shorten(printable(piece.text), terminal_.width - 8);
    if (!terminal_.has_color()) {
      if (piece.index == figure_.chosen) piece.text = "[" + piece.text + "]";
      // The chosen one is mostly far above all others, whose largest is 100.
      if (is_weight() || piece.index != figure_.chosen) {
        piece.text +=
            raised_percent(double{weight_of(piece)} / (is_weight() ? 1 : figure_.scale.high));
      }
    }
    piece.width = display_width(piece.text);
    pieces_.push_back(std::move(piece));
  }

  float weight_of(const Piece& piece) const {
    return figure_.weights[static_cast<size_t>(piece.index)];
  }

  void add(const Piece& piece) {
    if (column_ > 0 && column_ + piece.width > terminal_.width) end_line();
    rtl_ = rtl_ || has_right_to_left(piece.text);
    line_ += piece.index == figure_.chosen ? terminal_.marked(piece.text)
                                           : cells_.on(weight_of(piece), piece.text);
    column_ += piece.width;
  }

  // Text from right to left is isolated line by line: its words keep their order.
  void end_line() {
    if (column_ > 0) text_ += (rtl_ ? "\u2068" + line_ + "\u2069" : line_) + "\n";
    line_.clear();
    column_ = 0;
    rtl_ = false;
  }

  const ReadFigure& figure_;
  const Terminal& terminal_;
  CellPainter cells_;
  std::vector<Piece> pieces_;
  std::string text_;
  std::string line_;
  int column_ = 0;
  bool rtl_ = false;
};

}  // namespace

std::string draw(const ReadFigure& figure, const Terminal& terminal, const ColorMap& colors) {
  ReadPainter painter(figure, terminal, colors);
  return without_trailing_spaces(title_lines(figure.text, terminal) + painter.text() + "\n" +
                                 painter.largest() + "\n" + painter.legend() +
                                 caption_lines(figure.text, terminal));
}

std::string draw(const ReadingFigure& figure, const Terminal& terminal, const ColorMap& colors) {
  std::string text = title_lines(figure.text, terminal);
  for (const ReadFigure& line : figure.lines) text += ReadPainter(line, terminal, colors).text();
  return without_trailing_spaces(text + "\n" +
                                 ReadPainter(figure.lines.front(), terminal, colors).legend() +
                                 caption_lines(figure.text, terminal));
}

}  // namespace fovea
