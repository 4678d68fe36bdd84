#include <gtest/gtest.h>

#include <filesystem>

#include "fovea/base/file.h"
#include "fovea/base/sha256.h"
#include "support/stopping.h"
#include "support/temp_folder.h"

namespace fovea {
namespace {

TEST(StoppingFiles, ChecksumsLeaveSoon) {
  const std::string bytes(size_t{1} << 26, 'x');
  const auto seconds = support::seconds_to_stop([&] {
    Hasher hasher = Hasher::sha256();
    for (int part = 0; part < 1000; ++part) hasher.update(as_bytes(bytes));
  });
  ASSERT_TRUE(seconds);
  EXPECT_LT(*seconds, support::kStopSoon);
}

TEST(StoppingFiles, AFileThatIsNotFinishedLeavesNothingBehind) {
  const TempFolder folder;
  const std::filesystem::path path = folder / "large";
  const std::string bytes(size_t{1} << 22, 'x');
  const auto seconds = support::seconds_to_stop([&] {
    write_file_atomic(path, [&](FileWriter& file) {
      for (int part = 0; part < 100'000; ++part) file.write(bytes);
    });
  });
  ASSERT_TRUE(seconds);
  EXPECT_LT(*seconds, support::kStopSoon);
  EXPECT_TRUE(folder.list().empty());
}

}  // namespace
}  // namespace fovea
