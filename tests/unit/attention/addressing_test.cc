#include "fovea/attention/addressing.h"

#include <gmock/gmock.h>

#include <cmath>

namespace fovea {
namespace {

using ::testing::ElementsAre;
using Vector = std::vector<double>;

const KeyValueMemory kMemory{Matrix{{1, 0}, {0, 1}, {1, 1}}, Matrix{{10, 0}, {20, 0}, {30, 6}}};

TEST(HardAddressing, FetchesTheValueUnderTheBestKey) {
  const MemoryReading reading = read_hard(kMemory, Vector{0, 2}, Cosine{});
  EXPECT_THAT(reading.weights, ElementsAre(0, 1, 0));
  EXPECT_THAT(reading.value, ElementsAre(20, 0));
}

TEST(HardAddressing, TakesTheFirstOfEqualScores) {
  const MemoryReading reading = read_hard(kMemory, Vector{0, 2});  // dot: slots 1 and 2 score 2
  EXPECT_THAT(reading.scores, ElementsAre(0, 2, 2));
  EXPECT_THAT(reading.weights, ElementsAre(0, 1, 0));
}

TEST(SoftAddressing, MixesValuesByTheirWeights) {
  const MemoryReading reading = read_soft(kMemory, Vector{0, 2});
  const double e2 = std::exp(2);
  const double sum = 1 + 2 * e2;
  // A handful of roundings of numbers up to 30.
  EXPECT_NEAR(reading.value[0], (10 + 20 * e2 + 30 * e2) / sum, 1e-13);
  EXPECT_NEAR(reading.value[1], 6 * e2 / sum, 1e-13);
}

TEST(SoftAddressing, TemperatureZeroIsHardAddressing) {
  const Vector query{0.3, 0.9};
  const MemoryReading soft = read_soft(kMemory, query, DotProduct{}, 0);
  const MemoryReading hard = read_hard(kMemory, query);
  EXPECT_EQ(soft.weights, hard.weights);
  EXPECT_EQ(soft.value, hard.value);
}

TEST(SoftAddressing, ApproachesHardAddressingAsTheTemperatureFalls) {
  const Vector query{0.3, 0.9};
  const Vector hard = read_hard(kMemory, query).value;
  double before = std::numeric_limits<double>::infinity();
  for (const double temperature : {1.0, 0.3, 0.1, 0.03}) {
    const Vector soft = read_soft(kMemory, query, DotProduct{}, temperature).value;
    const double distance = std::hypot(soft[0] - hard[0], soft[1] - hard[1]);
    EXPECT_LT(distance, before) << temperature;
    before = distance;
  }
  // The next slot scores 0.3 less: its weight is exp(-10), its value about 12 away.
  EXPECT_LT(before, 13 * std::exp(-10.0));
}

TEST(Addressing, RefusesAMemoryWithoutSlotsOrWithoutAValueForEachKey) {
  EXPECT_THROW(read_hard({}, Vector{1}), Error);
  EXPECT_THROW(read_soft({Matrix(2, 2), Matrix(1, 2)}, Vector{1, 2}), Error);
}

TEST(Addressing, RefusesAQueryOfAnotherWidth) {
  EXPECT_THROW(read_hard(kMemory, Vector{1, 2, 3}), Error);
}

}  // namespace
}  // namespace fovea
