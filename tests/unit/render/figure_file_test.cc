#include "fovea/render/figure_file.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "support/errors.h"
#include "support/stopping.h"
#include "unit/figure/figure_mutations.h"

namespace fovea {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr FigureFormat kFormats[] = {FigureFormat::kPng, FigureFormat::kSvg, FigureFormat::kPdf};

std::vector<Figure> all_figures() {
  return {samples::matrix(), samples::heads(),    samples::read(),  samples::lines(),
          samples::steps(),  samples::align(),    samples::image(), samples::kernels(),
          samples::dots(),   samples::composite()};
}

std::filesystem::path fresh_folder(const std::string& name) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / name;
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  return folder;
}

MatrixFigure square(int64_t side) {
  MatrixFigure figure = samples::matrix();
  figure.rows = figure.cols = Axis{.name = "tokens"};
  figure.rows.positions.resize(static_cast<size_t>(side), {.text = "a"});
  figure.cols.positions = figure.rows.positions;
  figure.weights = Tensor({side, side});
  figure.chosen_row = side - 1;
  figure.chosen_col = side - 1;
  return figure;
}

TEST(FigureFile, SameFigureGivesTheSameBytesInEveryFormat) {
  for (const FigureFormat format : kFormats) {
    for (const Figure& figure : all_figures()) {
      EXPECT_EQ(encode_figure(format, figure).bytes, encode_figure(format, figure).bytes)
          << figure.index();
    }
  }
}

TEST(FigureFile, BytesDoNotDependOnWhatWasDrawnBeforeOrOnTheThread) {
  for (const FigureFormat format : kFormats) {
    const std::string first = encode_figure(format, samples::matrix()).bytes;
    std::string second;
    std::thread([&] {
      encode_figure(format, samples::lines());
      second = encode_figure(format, samples::matrix()).bytes;
    }).join();
    EXPECT_EQ(first, second);
  }
}

TEST(FigureFile, EveryFormatHasItsOwnBeginning) {
  const Figure figure = samples::matrix();
  EXPECT_THAT(encode_figure(FigureFormat::kPng, figure).bytes, testing::StartsWith("\x89PNG"));
  EXPECT_THAT(encode_figure(FigureFormat::kSvg, figure).bytes, testing::StartsWith("<?xml"));
  EXPECT_THAT(encode_figure(FigureFormat::kPdf, figure).bytes, testing::StartsWith("%PDF-1."));
}

TEST(FigureFile, CarriesItsMetadata) {
  MatrixFigure figure = samples::matrix();
  figure.text.metadata.set("model_hash", "0123abc");
  for (const FigureFormat format : kFormats) {
    const EncodedFigure encoded = encode_figure(format, figure);
    EXPECT_EQ(encoded.metadata.at("model_hash", "test").as_string("test"), "0123abc");
    EXPECT_EQ(encoded.metadata.at("caption", "test").as_string("test"), figure.text.caption);
    EXPECT_EQ(encoded.metadata.at("colors", "test").as_string("test"), "paper");
    EXPECT_EQ(encoded.metadata.at("fonts", "test").dump(), R"(["Inter"])");
    if (format != FigureFormat::kPdf) {  // whose streams are packed
      EXPECT_THAT(encoded.bytes, HasSubstr("model_hash"));
      EXPECT_THAT(encoded.bytes, HasSubstr("0123abc"));
    }
  }
}

TEST(FigureFile, SvgIsWellFormedWhateverTheTextHolds) {
  MatrixFigure figure = samples::matrix();
  figure.text.title = "a < b && \"c\" > d\n\x01\xff";
  figure.rows.positions[1].text = "</svg>";
  const std::string svg = encode_figure(FigureFormat::kSvg, figure).bytes;
  EXPECT_THAT(svg, HasSubstr("<title>a &lt; b &amp;&amp; \"c\" &gt; d"));
  EXPECT_THAT(svg, Not(HasSubstr("\x01")));
  EXPECT_THAT(svg, Not(HasSubstr("\xff")));
  EXPECT_EQ(svg.find("</svg>"), svg.rfind("</svg>"));
}

TEST(FigureFile, WritesTheFileAndItsSidecar) {
  const std::filesystem::path folder = fresh_folder("figure_sidecar");
  write_figure(folder / "map.PNG", samples::matrix(), {.sidecar = true});
  EXPECT_GT(std::filesystem::file_size(folder / "map.PNG"), 1000U);
  const Json sidecar = Json::parse(read_text_file(folder / "map.PNG.json"), "sidecar");
  EXPECT_EQ(sidecar.at("model", "sidecar").as_string("sidecar"), "sample");
  write_figure(folder / "plain.svg", samples::matrix());
  EXPECT_FALSE(std::filesystem::exists(folder / "plain.svg.json"));
}

TEST(FigureFile, ScaleMultipliesThePixels) {
  const auto width = [](int scale) {
    const std::string png =
        encode_figure(FigureFormat::kPng, samples::read(), {.pixels = scale}).bytes;
    return (static_cast<unsigned char>(png[18]) << 8) + static_cast<unsigned char>(png[19]);
  };
  EXPECT_NEAR(width(4), 4 * width(1), 4);  // each is rounded up
  EXPECT_NEAR(width(2), 2 * width(1), 2);
}

TEST(FigureFile, KnowsItsSuffixes) {
  EXPECT_TRUE(is_figure_suffix("a.png"));
  EXPECT_TRUE(is_figure_suffix("a.b.SVG"));
  EXPECT_TRUE(is_figure_suffix("/x/y.pdf"));
  EXPECT_FALSE(is_figure_suffix("a.jpg"));
  EXPECT_FALSE(is_figure_suffix("png"));
  EXPECT_THAT(message_of([] { write_figure("map.jpeg", samples::matrix()); }),
              HasSubstr(".png, .svg or .pdf"));
}

TEST(FigureFile, RefusesWrongOptions) {
  const auto encode = [](const FigureOptions& options) {
    return message_of([&] { encode_figure(FigureFormat::kPng, samples::matrix(), options); });
  };
  EXPECT_THAT(encode({.pixels = 0}), HasSubstr("1 to 4"));
  EXPECT_THAT(encode({.pixels = 5}), HasSubstr("1 to 4"));
  EXPECT_THAT(encode({.colors = "rainbow"}), HasSubstr("inferno, cividis, viridis"));
}

TEST(FigureFile, RefusesWhatTheFormatCannotHoldBeforeDrawing) {
  LinesFigure figure = samples::lines();
  figure.rows.positions.resize(20000, {.text = "a"});
  figure.cols.positions.resize(1);
  figure.heads = {{"head 0", Tensor({20000, 1})}};
  const std::filesystem::path folder = fresh_folder("figure_too_large");
  for (const std::string name : {"a.png", "a.svg", "a.pdf"}) {
    EXPECT_THAT(message_of([&] { write_figure(folder / name, figure); }), HasSubstr("a side"));
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder));
}

TEST(FigureFile, LeavesNothingBehindWhereItCannotWrite) {
  const std::filesystem::path folder = fresh_folder("figure_bad_path");
  EXPECT_THROW(write_figure(folder / "missing" / "a.png", samples::matrix()), Error);
  std::filesystem::create_directory(folder / "folder.png");
  EXPECT_THROW(write_figure(folder / "folder.png", samples::matrix()), Error);
  std::filesystem::remove(folder / "folder.png");
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  // A full disk: every write to this device fails so.
  std::filesystem::create_symlink("/dev/full", folder / "full.png");
  EXPECT_THAT(message_of([&] { write_figure(folder / "full.png", samples::matrix()); }),
              HasSubstr("full.png"));
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "full.png"));
}

TEST(FigureFile, KeepsTheOldFileWhenTheNewOneFails) {
  const std::filesystem::path path = fresh_folder("figure_keep") / "a.png";
  std::ofstream(path) << "old";
  MatrixFigure figure = samples::matrix();
  figure.weights = Tensor({1, 1});
  EXPECT_THROW(write_figure(path, figure), Error);
  EXPECT_EQ(read_text_file(path), "old");
}

TEST(FigureFile, RefusesFiguresWhosePartsDoNotFit) {
  const auto refused = [](const Figure& figure) {
    return message_of([&] { encode_figure(FigureFormat::kSvg, figure); });
  };
  MatrixFigure matrix = samples::matrix();
  matrix.weights = Tensor({2, 3});
  EXPECT_THAT(refused(matrix), HasSubstr("[9, 9]"));
  matrix = samples::matrix();
  matrix.chosen_row = 9;
  EXPECT_THAT(refused(matrix), HasSubstr("chosen row is 9 but there are 9"));
  matrix = samples::matrix();
  matrix.scale = {0, std::nan("")};
  EXPECT_NE(refused(matrix), "");
  matrix = samples::matrix();
  matrix.marks = {{0, -1}};
  EXPECT_NE(refused(matrix), "");
  EXPECT_NE(refused(MatrixFigure{}), "");
  EXPECT_NE(refused(HeadsFigure{}), "");
  EXPECT_NE(refused(LinesFigure{}), "");
  EXPECT_NE(refused(StepsFigure{}), "");
  EXPECT_NE(refused(AlignFigure{}), "");
  EXPECT_NE(refused(ImageFigure{}), "");
  EXPECT_NE(refused(KernelsFigure{}), "");
  EXPECT_NE(refused(DotsFigure{}), "");
  EXPECT_NE(refused(CurvesFigure{}), "");
  EXPECT_NE(refused(CompositeFigure{}), "");
  KernelsFigure even = samples::kernels();
  even.panels = {{.title = "head 0", .weights = Tensor({2, 2})}};
  EXPECT_THAT(refused(even), HasSubstr("has no middle"));
  DotsFigure below = samples::dots();
  below.values.mutable_values<float>()[1] = -1;
  EXPECT_THAT(refused(below), HasSubstr("from 0 upwards"));
  CurvesFigure shorter = samples::curves();
  shorter.panels[1].high.pop_back();
  EXPECT_THAT(refused(shorter), HasSubstr("5 points and 4 numbers"));
  CurvesFigure back = samples::curves();
  back.panels[0].shares[1] = 0.8;
  EXPECT_THAT(refused(back), HasSubstr("do not rise"));
  CurvesFigure infinite = samples::curves();
  infinite.panels[0].values[1] = std::nan("");
  EXPECT_THAT(refused(infinite), HasSubstr("all finite"));
  CompositeFigure stranger = samples::composite();
  stranger.owners.mutable_values<float>()[1] = 2;
  EXPECT_THAT(refused(stranger), HasSubstr("there are 2 owners"));
  EXPECT_NE(refused(ReadFigure{}), "");
  ReadFigure read = samples::read();
  read.weights.pop_back();
  EXPECT_THAT(refused(read), HasSubstr("11 positions with 10 weights"));
  LinesFigure lines = samples::lines();
  lines.mass = 0;
  EXPECT_NE(refused(lines), "");
  StepsFigure steps = samples::steps();
  steps.stages[0].tables[0].row_labels.push_back("one too many");
  EXPECT_NE(refused(steps), "");
}

TEST(FigureFile, DrawsWhatIsOneCellOrAllOfOneValue) {
  for (const FigureFormat format : kFormats) {
    MatrixFigure figure = square(1);
    EXPECT_FALSE(encode_figure(format, figure).bytes.empty());
    figure.scale = {0, 0};
    EXPECT_FALSE(encode_figure(format, figure).bytes.empty());
    figure.weights.mutable_values<float>()[0] = samples::kForbidden;
    EXPECT_FALSE(encode_figure(format, figure).bytes.empty());
  }
}

TEST(FigureFile, LargeMapsAreOnePictureInADrawing) {
  const std::string svg = encode_figure(FigureFormat::kSvg, square(300)).bytes;
  EXPECT_THAT(svg, HasSubstr("<image style=\"image-rendering:pixelated\""));
  EXPECT_LT(svg.size(), 400'000U);
  EXPECT_THAT(encode_figure(FigureFormat::kSvg, square(20)).bytes, Not(HasSubstr("<image")));
}

TEST(FigureFile, OnlyPatchesHaveHardPixelsInADrawing) {
  const std::string svg = encode_figure(FigureFormat::kSvg, samples::image()).bytes;
  const auto count = [&](std::string_view part) {
    int found = 0;
    for (size_t at = svg.find(part); at != std::string::npos; at = svg.find(part, at + 1)) ++found;
    return found;
  };
  // The picture once as it is and once faded, and one for each panel.
  EXPECT_EQ(count("<image "), 4);
  EXPECT_EQ(count("image-rendering:pixelated"), 2);
  EXPECT_THAT(svg, Not(HasSubstr("pixelated\" id=\"f0\" width=\"32\"")));
}

TEST(FigureFile, DifferencesAreColouredAboutZero) {
  MatrixFigure figure = samples::matrix();
  figure.scale = {-0.2, 0.5};
  EXPECT_EQ(encode_figure(FigureFormat::kSvg, figure).metadata.at("colors", "test").dump(),
            "\"RdBu\"");
}

TEST(FigureFile, DrawingLeavesSoonWhenItIsCancelled) {
  const Figure figure = square(6000);  // seconds, most of them of the file
  for (const FigureFormat format : kFormats) {
    const auto seconds = support::seconds_to_stop([&] {
      for (;;) encode_figure(format, figure);
    });
    ASSERT_TRUE(seconds);
    EXPECT_LT(*seconds, support::kStopSoon) << static_cast<int>(format);
  }
}

// Between ">" and "</text>", joined by "|".
std::string texts_in(const std::string& svg) {
  std::string texts;
  for (size_t at = svg.find("<text "); at != std::string::npos; at = svg.find("<text ", at + 1)) {
    const size_t begin = svg.find('>', at) + 1;
    texts += svg.substr(begin, svg.find("</text>", begin) - begin) + "|";
  }
  return texts;
}

TEST(FigureFile, SvgHasOutlinesOrTextThatCanBeRead) {
  MatrixFigure figure = samples::matrix();
  figure.rows.positions[1].text = "a<b";
  const std::string outlines = encode_figure(FigureFormat::kSvg, figure).bytes;
  EXPECT_EQ(texts_in(outlines), "");
  const std::string svg = encode_figure(FigureFormat::kSvg, figure, {.svg_text = true}).bytes;
  const std::string texts = texts_in(svg);
  EXPECT_THAT(texts, HasSubstr("Self-attention, layer 2, head 1|"));
  EXPECT_THAT(texts, HasSubstr("a&lt;b|"));
  EXPECT_THAT(texts, HasSubstr("[SEP]|"));
  EXPECT_THAT(svg, HasSubstr("font-family=\"'Inter', sans-serif\""));
  EXPECT_THAT(svg, HasSubstr("transform=\"matrix("));  // names above the columns lean
  EXPECT_THAT(svg, Not(HasSubstr("<symbol")));         // no outline is left
  EXPECT_LT(svg.size(), outlines.size());
}

TEST(FigureFile, HiddenCellsOfStepsAreDrawnAsTheSignTheyStandFor) {
  StepsFigure figure = samples::steps();
  const std::string before = encode_figure(FigureFormat::kPng, figure).bytes;
  figure.stages[3].tables[0].values(0, 2) = -std::numeric_limits<double>::infinity();
  for (const FigureFormat format : kFormats) {
    const std::string bytes = encode_figure(format, figure, {.svg_text = true}).bytes;
    EXPECT_NE(bytes, before);
    if (format != FigureFormat::kSvg) continue;
    EXPECT_THAT(texts_in(bytes), HasSubstr("\u2212\u221e|"));
  }
}

TEST(FigureFile, SvgTextThatRunsFromTheRightSaysSo) {
  MatrixFigure figure = samples::matrix();
  const auto svg = [&] {
    return encode_figure(FigureFormat::kSvg, figure, {.svg_text = true}).bytes;
  };
  EXPECT_THAT(svg(), Not(HasSubstr("direction=\"rtl\"")));
  figure.text.caption = "\u05e9\u05dc\u05d5\u05dd!";
  EXPECT_THAT(svg(), HasSubstr("direction=\"rtl\""));
}

TEST(FigureFile, SvgTextThatWasCutEndsInAnEllipsis) {
  MatrixFigure figure = samples::matrix();
  figure.rows.positions[2].text = std::string(300, 'w');
  const std::string texts =
      texts_in(encode_figure(FigureFormat::kSvg, figure, {.svg_text = true}).bytes);
  EXPECT_THAT(texts, HasSubstr("…|"));
  EXPECT_THAT(texts, Not(HasSubstr(std::string(300, 'w'))));
}

TEST(FigureFile, EveryKindOfFigureCanHaveItsTextAsText) {
  for (const samples::Sample& sample : samples::all()) {
    const Figure figure = sample.make();
    const std::string svg = encode_figure(FigureFormat::kSvg, figure, {.svg_text = true}).bytes;
    EXPECT_NE(texts_in(svg), "") << sample.name;
    EXPECT_THAT(svg, Not(HasSubstr("<symbol"))) << sample.name;
    EXPECT_THAT(svg, Not(HasSubstr("\ufffc"))) << sample.name;
  }
}

}  // namespace
}  // namespace fovea
