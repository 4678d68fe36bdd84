#include "fovea/capture/spill_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdlib>

#include "support/errors.h"
#include "support/records.h"
#include "support/temp_folder.h"

namespace fovea {
namespace {

using support::plain_case;
using support::record_of;
using ::testing::ElementsAreArray;

Tensor counted(Shape shape, float first) {
  Tensor tensor(std::move(shape));
  for (float& value : tensor.mutable_values<float>()) value = first++;
  return tensor;
}

TEST(SpillFile, TensorsOutliveIt) {
  const TempFolder folder;
  const Tensor a = counted({3, 5}, 0), b = counted({100'000}, 7);
  Tensor stored_a, stored_b;
  {
    SpillFile file(folder / ".");
    stored_a = file.store(a);
    stored_b = file.store(b);
  }
  EXPECT_EQ(stored_a.shape(), a.shape());
  EXPECT_THAT(stored_a.values<float>(), ElementsAreArray(a.values<float>()));
  EXPECT_THAT(stored_b.values<float>(), ElementsAreArray(b.values<float>()));
  // Nothing of it can be seen, so nothing is left behind.
  EXPECT_TRUE(std::filesystem::is_empty(folder / "."));
}

TEST(SpillFile, TakesAllThatGrowsWithTheInput) {
  const TempFolder folder;
  SpillFile file(folder / ".");
  AttentionRecord record = record_of(plain_case(12, 8, false, 1));
  record.output = counted({1, 12, 8}, 0);
  record.block = BlockContext{.input = counted({12, 8}, 3), .output_weight = counted({8, 8}, 1)};
  const AttentionRecord stored = file.store(record);
  EXPECT_NE(stored.output.raw(), record.output.raw());
  EXPECT_NE(stored.block->input.raw(), record.block->input.raw());
  EXPECT_EQ(stored.block->output_weight.raw(), record.block->output_weight.raw());  // the model's
  EXPECT_EQ(spilled_bytes(record), record.queries.bytes() + record.keys.bytes() +
                                       record.values.bytes() + record.output.bytes() +
                                       record.block->input.bytes());
}

TEST(SpillFile, SaysWhereAndWhatToDoWhenItCannotBeMade) {
  const TempFolder folder;
  EXPECT_TRUE(fails_with(ErrorKind::kIo, "set TMPDIR", [&] { SpillFile(folder / "missing"); }));
}

TEST(SpillFile, SaysWhatToDoWhenTheDiskIsFull) {
  const TempFolder folder;
  SpillFile file(folder / ".");
  struct rlimit before {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const struct rlimit small {
    1 << 16, before.rlim_max
  };
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  EXPECT_TRUE(fails_with(ErrorKind::kIo, "a folder with more room",
                         [&] { file.store(counted({100'000}, 0)); }));
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
}

TEST(SpillFile, LiesWhereTmpdirSays) {
  const char* old = std::getenv("TMPDIR");
  const std::string before = old == nullptr ? "" : old;
  ::setenv("TMPDIR", "/somewhere", 1);
  EXPECT_EQ(spill_folder(), "/somewhere");
  ::unsetenv("TMPDIR");
  EXPECT_EQ(spill_folder(), "/var/tmp");
  if (!before.empty()) ::setenv("TMPDIR", before.c_str(), 1);
}

}  // namespace
}  // namespace fovea
