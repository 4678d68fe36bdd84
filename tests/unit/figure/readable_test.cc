// What every kind of figure says, against stored text that a person can review.
// FOVEA_UPDATE_GOLDEN=1 writes it anew; read it before it is committed.
#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>

#include "fovea/base/file.h"
#include "support/data.h"
#include "unit/figure/figure_mutations.h"
#include "unit/figure/readable.h"

namespace fovea {
namespace {

using support::readable;

class Readable : public testing::TestWithParam<samples::Sample> {};

TEST_P(Readable, SaysWhatIsStored) {
  const std::string said = readable(GetParam().make());
  const std::filesystem::path stored = test_data("figures") / (GetParam().name + ".txt");
  if (std::getenv("FOVEA_UPDATE_GOLDEN") != nullptr) {
    write_file_atomic(stored, [&](FileWriter& file) { file.write(said); });
  }
  EXPECT_EQ(said, read_text_file(stored));
}

INSTANTIATE_TEST_SUITE_P(Figures, Readable, testing::ValuesIn(samples::all()),
                         [](const auto& test) { return test.param.name; });

class Said : public testing::TestWithParam<samples::Mutation> {};

TEST_P(Said, ShowsWhatChanged) {
  EXPECT_EQ(readable(GetParam().before), readable(GetParam().before));
  EXPECT_NE(readable(GetParam().before), readable(GetParam().after));
}

INSTANTIATE_TEST_SUITE_P(Figures, Said, testing::ValuesIn(samples::all_mutations()),
                         [](const auto& test) { return test.param.name; });

TEST(Readable, OfALargeMatrixItsSizeAndItsLargestWeight) {
  MatrixFigure figure;
  figure.weights = Tensor({65, 3});
  figure.weights.mutable_values<float>()[7] = 0.25F;
  EXPECT_THAT(readable(figure), testing::HasSubstr("65 x 3, largest 0.250"));
}

TEST(Readable, TellsWhatPicturesHaveNoRoomFor) {
  StepsFigure figure = samples::steps();
  NumberTable& table = figure.stages[0].tables[0];
  const auto rows = static_cast<size_t>(table.values.rows());
  table.sums.assign(rows, 0.5);
  table.bars.assign(rows, 0.25);
  table.notes.assign(rows, "hidden");
  figure.checks = {"equal within 1e-8"};
  const std::string text = readable(figure);
  EXPECT_THAT(text, testing::HasSubstr("| sum 0.5 | bar 0.250 | hidden"));
  EXPECT_THAT(text, testing::HasSubstr("equal within 1e-8"));
}

}  // namespace
}  // namespace fovea
