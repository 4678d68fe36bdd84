#include "fovea/checkpoint/checkpoint.h"

#include <gtest/gtest.h>

#include "fovea/checkpoint/fingerprint.h"
#include "support/errors.h"
#include "support/temp_folder.h"
#include "unit/checkpoint/checkpoint_test_support.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;

class OpenCheckpoint : public testing::Test {
 protected:
  OpenCheckpoint() { write_text(folder_ / "config.json", R"({"model_type": "bert"})"); }
  Checkpoint open(std::string_view file = "") const {
    return open_checkpoint((folder_ / file).string(), {});
  }
  void put(std::string_view fixture, std::string_view name) const {
    fs::copy_file(checkpoint_data(fixture), folder_ / name);
  }
  TempFolder folder_;
};

TEST_F(OpenCheckpoint, SafetensorsComeBeforePyTorchFiles) {
  put("stream.bin", "pytorch_model.bin");
  EXPECT_TRUE(open().weights.has("f32"));
  put("nested.safetensors", "model.safetensors");
  const Checkpoint checkpoint = open();
  EXPECT_EQ(checkpoint.config.model_type(), "bert");
  EXPECT_TRUE(checkpoint.weights.has("0.weight"));
  EXPECT_FALSE(checkpoint.gguf);
  EXPECT_TRUE(open("pytorch_model.bin").weights.has("f32"));
}

TEST_F(OpenCheckpoint, ItsCardSaysWhatMustBeKnownAndMakesItNoOther) {
  put("nested.safetensors", "model.safetensors");
  const std::string plain = fingerprint(open());
  EXPECT_EQ(open().note, "");
  write_text(folder_ / "fovea_card.json", R"({"note": "trained on drawings", "more": 1})");
  EXPECT_EQ(open().note, "trained on drawings");
  EXPECT_EQ(open("model.safetensors").note, "trained on drawings");
  EXPECT_EQ(fingerprint(open()), plain);
  write_text(folder_ / "fovea_card.json", "{}");
  EXPECT_EQ(open().note, "");
  for (const char* card : {"", "[]", R"({"note": 3})"}) {
    write_text(folder_ / "fovea_card.json", card);
    EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "fovea_card.json", [&] { open(); })) << card;
  }
}

TEST_F(OpenCheckpoint, ShardsOfPyTorchFilesAreRead) {
  put("zip.bin", "pytorch_model-00001-of-00002.bin");
  put("nested.pt", "pytorch_model-00002-of-00002.bin");
  write_text(folder_ / "pytorch_model.bin.index.json",
             R"({"weight_map": {"f32": "pytorch_model-00001-of-00002.bin",
                                "0.bias": "pytorch_model-00002-of-00002.bin"}})");
  const Checkpoint checkpoint = open();
  EXPECT_EQ(checkpoint.weights.names().size(), 2U);
  EXPECT_EQ(checkpoint.weights.tensor("0.bias").shape(), (Shape{2}));
}

TEST_F(OpenCheckpoint, AGgufFileNeedsNoConfiguration) {
  fs::remove(folder_ / "config.json");
  put("llama.gguf", "small.gguf");
  for (const char* name : {"", "small.gguf"}) {
    const Checkpoint checkpoint = open(name);
    EXPECT_EQ(checkpoint.config.model_type(), "llama");
    EXPECT_TRUE(checkpoint.gguf);
    EXPECT_EQ(checkpoint.weights["model.layers"][0].tensor("self_attn.q_proj.weight").shape(),
              (Shape{32, 32}));
  }
}

TEST_F(OpenCheckpoint, ASingleFileOfAnotherNameIsTaken) {
  put("nested.pt", "weights.pt");
  put("zip.bin", "training_args.bin");  // not the weights
  EXPECT_TRUE(open().weights.has("0.weight"));
  put("nested.pt", "second.pt");
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "2 .pt files", [&] { open(); }));
}

TEST_F(OpenCheckpoint, WhatIsMissingIsSaid) {
  EXPECT_TRUE(fails_with(ErrorKind::kNotFound, "holds no weights", [&] { open(); }));
  EXPECT_TRUE(
      fails_with(ErrorKind::kUnsupported, "config.json: is not", [&] { open("config.json"); }));
  put("nested.safetensors", "model.safetensors");
  fs::remove(folder_ / "config.json");
  EXPECT_TRUE(fails_with(ErrorKind::kNotFound, "config.json: is missing", [&] { open(); }));
  EXPECT_TRUE(fails_with(ErrorKind::kNotFound, "pull no/such-model from the hub",
                         [&] { open_checkpoint("no/such-model", {}); }));
}

}  // namespace
}  // namespace fovea
