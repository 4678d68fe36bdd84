#include "fovea/cli/draw/draw.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"
#include "fovea/figure/view.h"
#include "support/runs.h"
#include "unit/cli/drawn_text.h"
#include "unit/figure/figure_samples.h"

namespace fovea {
namespace {

using support::text_run;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

using CapturedRun = fovea::Run;  // not testing::Run
using Kind = HeadChoice::Kind;
using Words = std::vector<std::string>;

std::vector<std::string> all_drawings(const CapturedRun& run, const Terminal& terminal) {
  return {draw(matrix_view(run, {}), terminal, inferno()),
          draw(heads_view(run, {}), terminal, inferno()),
          draw(heads_view(run, {.all_layers = true}), terminal, inferno()),
          draw(read_view(run, {}), terminal, inferno()),
          draw(read_view(run, {.column = true, .words = true}), terminal, inferno()),
          draw(lines_view(run, {}), terminal, inferno()),
          draw(lines_view(run, {.token = "#0", .column = true}), terminal, inferno())};
}

Words many_words(int count) {
  Words words;
  for (int i = 0; i < count; ++i) words.push_back("word" + std::to_string(i) + "|s");
  return words;
}

const std::vector<Words>& texts() {
  static const std::vector<Words> all = {
      {"x"},
      {"[CLS]", "the", "cat", "chas|ing", "a", "mouse", ".", "[SEP]"},
      {"[CLS]", "The", "FBI", "is", "chas|ing", "a", "crim|inal", "on", "the", "run", "and", "will",
       "catch", "him", "soon", ".", "[SEP]"},
      {"日本語", "の|テキスト", "は", "幅", "が", "広い"},
      {"👩\u200d🚀", "🇩🇪", "❤\ufe0f", "👍🏽", "ok"},
      {"قط", "يطار|د", "الفأر", "في", "البيت", "12"},
      {"tab\tinside", "esc\x1b[31m", "\u202eflip", std::string(300, 'w')},
      many_words(150)};
  return all;
}

TEST(Drawings, NeverPassTheWidthOfTheTerminal) {
  for (const Words& words : texts()) {
    const CapturedRun run = text_run(words, 3, true, 2);
    for (const int width : {40, 80, 200}) {
      for (const ColorMode mode : kModes) {
        for (const std::string& text : all_drawings(run, {.width = width, .colors = mode})) {
          for (const std::string& line : lines_of(without_colors(text))) {
            ASSERT_LE(display_width(line), width) << words[0] << "\n" << line;
          }
        }
      }
    }
  }
}

TEST(Drawings, UseOnlyTheColoursOfTheTerminal) {
  const CapturedRun run = text_run(texts()[1], 3, true);
  for (const std::string& text : all_drawings(run, {.colors = ColorMode::kNone})) {
    EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  }
  for (const std::string& text : all_drawings(run, {.colors = ColorMode::k256})) {
    EXPECT_THAT(text, Not(HasSubstr("8;2;")));
  }
  for (const std::string& text : all_drawings(run, {.colors = ColorMode::kTrue})) {
    EXPECT_THAT(text, Not(HasSubstr("8;5;")));
  }
}

TEST(Drawings, CannotBeSteeredByTheirText) {
  const CapturedRun run = text_run(texts()[6], 2);
  for (const std::string& text : all_drawings(run, {.colors = ColorMode::kNone})) {
    EXPECT_THAT(text, Not(HasSubstr("\x1b")));
    EXPECT_THAT(text, Not(HasSubstr("\u202e")));
    EXPECT_THAT(text, Not(HasSubstr("\t")));
  }
}

TEST(Drawings, EndWithTheirCaption) {
  const CapturedRun run = text_run(texts()[1], 3);
  const Terminal wide{.width = 300, .colors = ColorMode::kTrue};
  const MatrixFigure matrix = matrix_view(run, {});
  EXPECT_THAT(draw(matrix, wide, inferno()), EndsWith("\n" + matrix.text.caption + "\n"));
  const HeadsFigure heads = heads_view(run, {});
  EXPECT_THAT(draw(heads, wide, inferno()), EndsWith("\n" + heads.text.caption + "\n"));
  const ReadFigure read = read_view(run, {.token = "cat"});
  EXPECT_THAT(draw(read, wide, inferno()), EndsWith("\n" + read.text.caption + "\n"));
  const LinesFigure lines = lines_view(run, {});
  EXPECT_THAT(draw(lines, wide, inferno()), EndsWith("\n" + lines.text.caption + "\n"));
}

// 0.25 and 0.75, of which the second may not be seen.
MatrixFigure two_by_two() {
  MatrixFigure figure;
  figure.rows = support::text_axis({"a", "b"});
  figure.cols = figure.rows;
  figure.weights = Tensor::from<float>(
      {2, 2}, std::vector<float>{1, std::numeric_limits<float>::quiet_NaN(), 0.25F, 0.75F});
  figure.text = {"title", "caption", Json()};
  return figure;
}

TEST(DrawMatrix, WritesNumbersWhereThereIsRoom) {
  EXPECT_EQ(draw(two_by_two(), {.width = 80}, inferno()),
            "title\n"
            "\n"
            "        a    b\n"
            "  0 a  1.0   ·\n"
            "  1 b  .25  .75\n"
            "\n"
            "· not allowed\n"
            "caption\n");
}

TEST(DrawMatrix, WritesNegativeNumbersWithTheirSign) {
  MatrixFigure figure = two_by_two();
  figure.weights = Tensor::from<float>({2, 2}, std::vector<float>{-1, -0.001F, -0.25F, 0.75F});
  figure.scale = {-1, 1};
  EXPECT_EQ(draw(figure, {.width = 80}, inferno()),
            "title\n"
            "\n"
            "        a    b\n"
            "  0 a  -1.0  0\n"
            "  1 b  -.25 .75\n"
            "\n"
            "caption\n");
}

TEST(DrawMatrix, ColoursCellsAndMarksTheChosenRow) {
  MatrixFigure figure = two_by_two();
  figure.chosen_row = 1;
  const std::string text = draw(figure, {.width = 80, .colors = ColorMode::kTrue}, inferno());
  const Rgb top = inferno().at(1);
  EXPECT_THAT(text, HasSubstr(fmt::format("48;2;{};{};{}m 1.0 ", top.red, top.green, top.blue)));
  EXPECT_THAT(text, HasSubstr("\x1b[1;4;31mb\x1b[0m"));
  EXPECT_THAT(draw(figure, {.width = 80}, inferno()), HasSubstr("▸ 1 b"));
}

TEST(DrawMatrix, AlignsEveryLineWhateverTheScript) {
  for (const size_t text : {3U, 4U, 5U}) {
    const CapturedRun run = text_run(texts()[text], 1);
    const std::string drawn = without_colors(
        draw(matrix_view(run, {}), {.width = 80, .colors = ColorMode::k256}, inferno()));
    int width = 0;
    for (const std::string& line : lines_of(drawn)) {
      const bool is_row = line.starts_with("  ") && line.size() > 3 && line[2] >= '0' &&
                          line[2] <= '9' && line[3] == ' ';
      if (!is_row) continue;
      if (width == 0) width = display_width(line);
      EXPECT_EQ(display_width(line), width) << line;
    }
    EXPECT_GT(width, 20);
  }
}

TEST(DrawMatrix, ShowsAnOverviewOfWhatDoesNotFit) {
  const CapturedRun run = text_run(many_words(150), 1);
  for (const ColorMode mode : kModes) {
    const auto text_of = [&](const ViewChoice& choice) {
      return without_colors(
          draw(matrix_view(run, choice), {.width = 80, .colors = mode}, inferno()));
    };
    EXPECT_THAT(text_of({.of = MapValue::kWeight}), HasSubstr("each cell is the largest of"));
    const std::string text = text_of({});
    EXPECT_THAT(text, HasSubstr("a cell is "));
    EXPECT_THAT(text, AllOf(HasSubstr("÷32"), HasSubstr("even"), HasSubstr("×32 ▸ times even")));
    EXPECT_LT(lines_of(text).size(), 60U);
  }
}

TEST(DrawMatrix, CountsRowsAndColumnsInTheWholeMap) {
  MatrixFigure figure = two_by_two();
  figure.row_place = {.first = 99};
  EXPECT_THAT(draw(figure, {.width = 80}, inferno()),
              AllOf(HasSubstr("\n   99 a "), HasSubstr("\n  100 b ")));

  // An overview of an overview: a cell stands for four times as many weights.
  for (const auto& [exact, words] : {std::pair(true, "a line holds "), {false, "a cell is "}}) {
    MatrixFigure large = matrix_view(text_run(many_words(150), 1), {.exact = exact});
    const auto rows_told = [&, told = std::string_view(words)] {
      const std::string text = draw(large, {.width = 80}, inferno());
      return std::stoi(text.substr(text.find(told) + told.size()));
    };
    const int before = rows_told();
    large.row_place = large.col_place = {.first = 1000, .step = 4};
    EXPECT_EQ(rows_told(), 4 * before);
    EXPECT_THAT(draw(large, {.width = 80}, inferno()), HasSubstr(" 1000 "));
  }
}

TEST(DrawMatrix, WritesNoNumberBesideALabelThatHasOne) {
  MatrixFigure figure = two_by_two();
  figure.rows = support::text_axis({"1 cat", "2 dog"});
  EXPECT_THAT(draw(figure, {.width = 80}, inferno()),
              AllOf(HasSubstr("\n  1 cat  1.0"), HasSubstr("\n  2 dog  .25")));
  figure.rows = support::text_axis({"0", "1"});
  EXPECT_THAT(draw(figure, {.width = 80}, inferno()),
              AllOf(HasSubstr("\n  0  1.0"), HasSubstr("\n  1  .25")));
}

TEST(DrawMatrix, ShowsLinksHoweverSmallTheCells) {
  MatrixFigure figure = matrix_view(text_run(many_words(14), 1), {});  // 28 tokens
  figure.marks = {{0, 0}, {27, 3}};
  for (const ColorMode mode : kModes) {
    for (const auto& [width, sign] : {std::pair(200, "[ ]"), {80, "[]"}, {40, "o"}}) {
      const std::string text =
          without_colors(draw(figure, {.width = width, .colors = mode}, inferno()));
      EXPECT_THAT(text, HasSubstr(fmt::format("\n{} a link\n", sign))) << width;
    }
  }
}

TEST(DrawRead, MarksTheChosenTokenAndListsTheLargest) {
  ReadFigure figure;
  figure.axis = support::text_axis({"[CLS]", "the", "cat", "chas|ing", "it"});
  figure.weights = {0.5F, 0.1F, 0.004F, 0.3F, 0.05F, 0.046F};
  figure.chosen = 2;
  figure.scale = {0, 0.3};
  figure.text = {"title", "caption", Json()};
  EXPECT_EQ(draw(figure, {.width = 80}, inferno()),
            "title\n"
            "\n"
            "[CLS]⁵⁰ the¹⁰ [cat] chas³⁰ing⁵ it⁵\n"
            "\n"
            "  0 [CLS]  0.500  ████████████████████████\n"
            "  3 chas   0.300  ██████████████▍\n"
            "  1 the    0.100  ████▊\n"
            "  4 ‿ing   0.050  ██▍\n"
            "  5 it     0.046  ██▎\n"
            "\n"
            "raised numbers: weight in percent, none below 1 · [ ] the chosen token\n"
            "caption\n");
  const std::string colored = draw(figure, {.width = 80, .colors = ColorMode::kTrue}, inferno());
  EXPECT_THAT(colored, HasSubstr("\x1b[1;4;31mcat\x1b[0m"));
  EXPECT_THAT(colored, HasSubstr("0.30 or more"));
}

TEST(DrawRead, ListsSmallNumbersWithDigitsThatTellThemApart) {
  ReadFigure figure;
  figure.axis = support::text_axis({"one", "two"});
  figure.chosen = -1;
  const auto drawn = [&](std::vector<float> weights) {
    figure.weights = std::move(weights);
    return draw(figure, {.width = 80}, inferno());
  };
  EXPECT_THAT(drawn({0.00123F, 0.00108F}), AllOf(HasSubstr("0.0012 "), HasSubstr("0.0011 ")));
  EXPECT_THAT(drawn({2e-9F, -1e-9F}), AllOf(HasSubstr("2.0e-09"), HasSubstr("-1.0e-09")));
}

TEST(DrawRead, KeepsLineBreaksAndWrapsAtWords) {
  ReadFigure figure;
  figure.axis = support::text_axis({"one", "two", "three"});
  figure.axis.source[3] = '\n';
  figure.weights = {0.2F, 0.3F, 0.5F};
  figure.chosen = -1;
  EXPECT_THAT(draw(figure, {.width = 80}, inferno()), HasSubstr("one²⁰\ntwo³⁰ three⁵⁰\n"));
  figure.axis = support::text_axis({"one", std::string(20, 'a'), std::string(20, 'b') + "|end"});
  figure.weights = {0.2F, 0.3F, 0, 0.5F};
  EXPECT_THAT(draw(figure, {.width = 40}, inferno()),
              HasSubstr("one²⁰ aaaaaaaaaaaaaaaaaaaa³⁰\nbbbbbbbbbbbbbbbbbbbbend⁵⁰\n"));
}

TEST(DrawLines, GoesUntilTheMassIsReached) {
  LinesFigure figure;
  figure.rows = support::text_axis({"cat", "it"});
  figure.cols = support::text_axis({"The", "sat", "on"});
  figure.heads = {
      {"head 3", Tensor::from<float>({2, 3}, std::vector<float>{0.4F, 0.55F, 0.05F, 1, 0, 0})}};
  figure.text = {"title", "caption", Json()};
  EXPECT_EQ(draw(figure, {.width = 80}, inferno()),
            "title\n"
            "\n"
            "head 3\n"
            "  cat → sat .55  The .40\n"
            "   it → The 1.0\n"
            "\n"
            "the largest weights of each row, until they make up 90 % of it\n"
            "caption\n");
  figure.chosen_col = 0;
  EXPECT_THAT(draw(figure, {.width = 80}, inferno()), HasSubstr("  The ← it 1.0  cat .40\n"));
}

TEST(DrawHeads, PutsAsManyAcrossAsFit) {
  const CapturedRun run = text_run(texts()[1], 12);
  const auto titles_in_first_line = [&](int width) {
    const std::string text = draw(heads_view(run, {}), {.width = width}, inferno());
    const size_t begin = text.find("head 0");
    const std::string line = text.substr(begin, text.find('\n', begin) - begin);
    size_t count = 0;
    for (size_t at = line.find("head"); at != std::string::npos; at = line.find("head", at + 1)) {
      ++count;
    }
    return count;
  };
  EXPECT_GE(titles_in_first_line(40), 2U);
  EXPECT_GE(titles_in_first_line(80), 3U);
  EXPECT_GT(titles_in_first_line(200), titles_in_first_line(80));
}

TEST(Nearest256, TakesCubeAndGreys) {
  EXPECT_EQ(nearest_256({0, 0, 0}), 16);
  EXPECT_EQ(nearest_256({255, 255, 255}), 231);
  EXPECT_EQ(nearest_256({255, 0, 0}), 196);
  EXPECT_EQ(nearest_256({0, 95, 135}), 16 + 6 + 2);
  EXPECT_EQ(nearest_256({128, 128, 128}), 244);
  EXPECT_EQ(nearest_256({8, 8, 8}), 232);
}

TEST(Isolated, WrapsWhatRunsFromRightToLeft) {
  EXPECT_EQ(isolated("abc"), "abc");
  EXPECT_EQ(isolated("قط"), "\u2068قط\u2069");
  EXPECT_EQ(display_width(isolated("قط")), 2);
  EXPECT_EQ(isolated("\u202eabc"), "\uFFFDabc");
}

ImageFigure boxed_picture() {
  return {.text = {.title = "2 objects", .caption = "Boxes", .metadata = {}},
          .picture = Picture(64, 48, {90, 120, 150}),
          .panels = {{.title = "objects",
                      .weights = {},
                      .masks = {{2, 2, {0, 0, 0, 1}, 1}},
                      .boxes = {{0.1, 0.2, 0.5, 0.7, "cat 0.98", 0},
                                {0.1, 0.2, 0.5, 0.7, "dog 0.71", 1}}}},
          .layout = ImageLayout::kPanels};
}

TEST(TerminalPictures, BoxesHaveTheirNamesEvenInTheSamePlace) {
  for (const ColorMode mode : kModes) {
    for (const int width : {20, 40, 80, 200}) {
      const Terminal terminal{.width = width, .colors = mode};
      const std::string text = without_colors(draw(boxed_picture(), terminal, inferno()));
      EXPECT_THAT(text, HasSubstr("cat 0.98"));
      EXPECT_THAT(text, HasSubstr("dog 0.71"));
      for (const std::string& line : lines_of(text)) EXPECT_LE(display_width(line), width);
    }
  }
}

TEST(TerminalPictures, EdgesAndAreasShowWithoutColours) {
  const std::string text =
      draw(boxed_picture(), {.width = 60, .colors = ColorMode::kNone}, inferno());
  EXPECT_THAT(text, HasSubstr("\u2502"));
  EXPECT_THAT(text, HasSubstr("\u2518"));
  EXPECT_THAT(text, HasSubstr("\u2592"));
}

TEST(TerminalPictures, ABoxOutsideOfThePictureIsCutNotACrash) {
  ImageFigure figure = boxed_picture();
  figure.panels[0].boxes = {{-3, -3, 7, 9, "all", 0}, {1.5, 1.5, 2, 2, "", 1}};
  EXPECT_THAT(draw(figure, {.width = 60, .colors = ColorMode::kTrue}, inferno()), HasSubstr("all"));
}

TEST(TerminalPictures, WithoutAPanelAreRefused) {
  ImageFigure figure = boxed_picture();
  figure.panels.clear();
  EXPECT_THROW(draw(figure, Terminal{}, inferno()), Error);
}

TEST(DrawCurves, IsATableOfPointsThatFits) {
  const CurvePanel panel{.title = "deletion",
                         .shares = {0, 0.5, 1},
                         .values = {0.9, 0.25, 0.125},
                         .mean = {0.9, 0.5, 0.1},
                         .low = {0.9, 0.4, 0.1},
                         .high = {0.9, 0.6, 0.1}};
  const CurvesFigure figure{.text = {.title = "Faithfulness", .caption = "of a cat"},
                            .panels = {panel, panel},
                            .value_name = "probability of class cat",
                            .curve_name = "rollout",
                            .mean_name = "mean of 32 random orders",
                            .band_name = "95 % of them"};
  const std::string text = draw(figure, {.width = 80}, inferno());
  EXPECT_THAT(text, HasSubstr("50 %"));
  EXPECT_THAT(text, HasSubstr("0.250"));
  EXPECT_THAT(text, HasSubstr("probability of class cat"));
  EXPECT_THAT(text, EndsWith("of a cat\n"));
  for (const std::string& line : lines_of(text)) EXPECT_LE(display_width(line), 80) << line;
}

}  // namespace
}  // namespace fovea
