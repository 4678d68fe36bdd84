#include "fovea/checkpoint/fingerprint.h"

#include <gtest/gtest.h>

#include "support/temp_folder.h"
#include "unit/checkpoint/checkpoint_test_support.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;

class Fingerprint : public testing::Test {
 protected:
  std::string of(const std::string& config, const std::vector<NamedTensor>& tensors) {
    const fs::path folder = folder_ / std::to_string(count_++);
    fs::create_directories(folder);
    write_text(folder / "config.json", config);
    write_safetensors(folder / "model.safetensors", tensors);
    return fingerprint(open_checkpoint(folder.string()));
  }
  TempFolder folder_;
  int count_ = 0;
};

TEST_F(Fingerprint, IsThatOfTheContentWhereverItLies) {
  const std::vector<NamedTensor> tensors{{"a", sample_tensor({2, 3}, DType::kF32)}};
  const std::string first = of(R"({"model_type": "bert"})", tensors);
  EXPECT_FALSE(first.empty());
  EXPECT_EQ(of(R"({"model_type": "bert"})", tensors), first);
}

TEST_F(Fingerprint, ChangesWithTheConfigurationTheNamesAndTheNumbers) {
  const std::vector<NamedTensor> tensors{{"a", sample_tensor({2, 3}, DType::kF32)}};
  const std::string first = of(R"({"model_type": "bert"})", tensors);
  EXPECT_NE(of(R"({"model_type": "gpt2"})", tensors), first);
  EXPECT_NE(of(R"({"model_type": "bert"})", {{"b", sample_tensor({2, 3}, DType::kF32)}}), first);
  EXPECT_NE(of(R"({"model_type": "bert"})", {{"a", sample_tensor({3, 2}, DType::kF32)}}), first);
  Tensor changed = sample_tensor({2, 3}, DType::kF32).clone();
  changed.mutable_values<float>()[5] = 0.25F;
  EXPECT_NE(of(R"({"model_type": "bert"})", {{"a", changed}}), first);
}

}  // namespace
}  // namespace fovea
