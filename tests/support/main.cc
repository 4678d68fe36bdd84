// main() of every test program: each process has a temporary folder of its own, because several
// processes of one program run side by side.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "support/data.h"

namespace fovea {

std::filesystem::path test_data(const std::filesystem::path& name) {
  return name.empty() ? std::filesystem::path(FOVEA_TEST_DATA) : FOVEA_TEST_DATA / name;
}

}  // namespace fovea

namespace {

// testing::TempDir() is this folder until the tests are over; then it is gone with all in it.
class OwnTempDir : public testing::Environment {
 public:
  void SetUp() override {
    std::string name = testing::TempDir() + "/fovea.XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) FAIL() << "no temporary folder " << name;
    folder_ = name;
    ::setenv("TEST_TMPDIR", folder_.c_str(), /*overwrite=*/1);
  }
  void TearDown() override {
    std::error_code ignored;
    if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleMock(&argc, argv);
  testing::AddGlobalTestEnvironment(new OwnTempDir);
  return RUN_ALL_TESTS();
}
