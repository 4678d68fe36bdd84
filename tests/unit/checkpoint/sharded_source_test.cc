#include "fovea/checkpoint/sharded_source.h"

#include <gtest/gtest.h>

#include "fovea/checkpoint/file_source.h"
#include "fovea/checkpoint/weights.h"
#include "support/errors.h"
#include "support/temp_folder.h"
#include "unit/checkpoint/checkpoint_test_support.h"

namespace fovea {
namespace {

class Sharded : public testing::Test {
 protected:
  Sharded() {
    write_safetensors(folder_ / "1.safetensors",
                      std::vector<NamedTensor>{{"a", sample_tensor({2}, DType::kF32)},
                                               {"b", sample_tensor({3}, DType::kBF16)}});
    write_safetensors(folder_ / "2.safetensors",
                      std::vector<NamedTensor>{{"c", sample_tensor({4}, DType::kF16)}});
  }
  std::shared_ptr<const WeightSource> open(std::string_view weight_map) {
    const auto path = folder_ / "model.safetensors.index.json";
    write_text(path, fmt::format(R"({{"metadata": {{}}, "weight_map": {}}})", weight_map));
    return open_sharded_weights(path, open_safetensors_weights);
  }
  testing::AssertionResult refuses(ErrorKind kind, std::string_view part,
                                   std::string_view weight_map) {
    return fails_with(kind, part, [&] { open(weight_map); });
  }
  TempFolder folder_;
};

TEST_F(Sharded, TensorsComeFromTheirShards) {
  const Weights weights(
      open(R"({"c": "2.safetensors", "a": "1.safetensors", "b": "1.safetensors"})"));
  EXPECT_EQ(weights.names().size(), 3U);
  EXPECT_TRUE(same_tensor(weights.tensor("b"), sample_tensor({3}, DType::kBF16)));
  EXPECT_TRUE(same_tensor(weights.tensor("c"), sample_tensor({4}, DType::kF16)));
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "2.safetensors: tensor 'c' has shape [4]",
                         [&] { weights.tensor("c", {5}); }));
}

TEST_F(Sharded, AMissingShardIsNamed) {
  EXPECT_TRUE(refuses(ErrorKind::kNotFound, "1 of its 2 shards are missing, '3.safetensors'",
                      R"({"a": "1.safetensors", "c": "3.safetensors"})"));
}

TEST_F(Sharded, ATensorThatItsShardDoesNotHoldIsNamed) {
  EXPECT_TRUE(refuses(ErrorKind::kBadFile, "tensor 'c' is in", R"({"c": "1.safetensors"})"));
}

TEST_F(Sharded, PathsOutOfTheFolderAreRefused) {
  for (const char* path : {"/etc/passwd", "../1.safetensors", "x/../../y", "", "x/"}) {
    EXPECT_TRUE(
        refuses(ErrorKind::kBadFile, "outside the folder", fmt::format(R"({{"a": "{}"}})", path)))
        << path;
  }
}

TEST_F(Sharded, ADamagedIndexIsRefused) {
  EXPECT_TRUE(refuses(ErrorKind::kBadFile, "weight_map", "{}"));
  EXPECT_TRUE(refuses(ErrorKind::kBadFile, "weight_map", "[]"));
  EXPECT_TRUE(refuses(ErrorKind::kBadFile, "weight_map", R"({"a": 3})"));
}

TEST_F(Sharded, ATruncatedShardIsRefused) {
  const std::string whole = read_text_file(folder_ / "1.safetensors");
  write_text(folder_ / "1.safetensors", whole.substr(0, whole.size() - 1));
  EXPECT_TRUE(refuses(ErrorKind::kBadFile, "1.safetensors", R"({"a": "1.safetensors"})"));
}

}  // namespace
}  // namespace fovea
