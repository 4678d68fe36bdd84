// Every file of tests/data/checkpoint_names lists the tensors of a well-known published checkpoint
// (tools/fixtures/make_checkpoint_names.py). The loader must find all it needs among them and know
// the rest. Sizes are shrunk alike in the configuration and in the shapes, so that any model fits
// in memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <ranges>
#include <set>

#include "fovea/base/file.h"
#include "fovea/models/model.h"
#include "support/data.h"
#include "support/errors.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;
using ::testing::IsEmpty;

constexpr int64_t kHeadDim = 4, kVocabulary = 29, kPositions = 31;

// Tensors of zeros, made when they are read.
class ListedSource final : public WeightSource {
 public:
  explicit ListedSource(std::vector<TensorInfo> tensors) : tensors_(std::move(tensors)) {}
  const std::vector<TensorInfo>& tensors() const override { return tensors_; }
  Tensor read(size_t index) const override { return Tensor(tensors_[index].shape); }
  const std::string& file(size_t) const override { return name_; }
  const std::string& name() const override { return name_; }

 private:
  std::string name_ = "listed";
  std::vector<TensorInfo> tensors_;
};

struct Listing {
  Config config;
  std::vector<TensorInfo> tensors;
};

bool has_any(std::string_view text, std::initializer_list<std::string_view> parts) {
  return std::ranges::any_of(parts, [&](auto part) { return text.find(part) != text.npos; });
}

// By how much widths are divided: heads become kHeadDim wide, whatever else is wide as many times
// narrower, so that all ratios stay.
int64_t divisor_of(const Config& config) {
  if (config.has("vision_config")) return divisor_of(config.section("vision_config"));
  const auto first_of = [&](std::initializer_list<std::string_view> keys) {
    return config.get_size(
        *std::ranges::find_if(keys, [&](std::string_view key) { return config.has(key); }));
  };
  const int64_t width = first_of({"hidden_size", "dim", "n_embd", "d_model"});
  const int64_t heads = first_of(
      {"num_attention_heads", "n_heads", "n_head", "encoder_attention_heads", "num_heads"});
  return config.get_size("head_dim", config.get_size("d_kv", width / heads)) / kHeadDim;
}

constexpr std::array<const char*, 5> kPositionKeys{"max_position_embeddings", "n_positions",
                                                   "n_ctx", "max_source_positions",
                                                   "max_target_positions"};

Config shrunk(const Config& config, int64_t divisor) {
  Json json = config.json();
  for (const char* key :
       {"hidden_size", "dim", "n_embd", "intermediate_size", "hidden_dim", "embedding_size",
        "head_dim", "d_model", "d_kv", "d_ff", "encoder_ffn_dim", "decoder_ffn_dim", "num_mel_bins",
        "projection_dim", "ffn_dim", "moe_intermediate_size", "word_embed_proj_dim"}) {
    if (config.has(key)) json.set(key, config.get_size(key) / divisor);
  }
  // Distances are as many as they were.
  if (config.has("max_relative_positions") && config.get_int("max_relative_positions") < 1) {
    json.set("max_relative_positions", config.get_size("max_position_embeddings"));
  }
  if (config.has("rotary_dim")) json.set("rotary_dim", kHeadDim / 2);
  for (const char* key : kPositionKeys) {
    if (config.has(key)) json.set(key, kPositions);
  }
  for (const char* key : {"vision_config", "text_config"}) {
    if (config.has(key)) json.set(key, shrunk(config.section(key), divisor).json());
  }
  json.set("vocab_size", kVocabulary);
  return Config(std::move(json), config.source());
}

// Of axis `axis` of that tensor.
int64_t shrunk(int64_t size, size_t axis, std::string_view name, const Config& config,
               int64_t divisor) {
  if (size == config.get_size("vocab_size", -1)) return kVocabulary;
  if (has_any(name, {"relative_attention_bias"})) return size;  // of buckets and heads
  if (axis == 0 && has_any(name, {"rel_embeddings", "mlp.gate.", "mlp.router.",
                                  "mlp.experts.gate_up_proj", "mlp.experts.down_proj", "sinks"}))
    return size;                       // of distances, experts
  if (has_any(name, {"mask_head"})) {  // some of its convolutions see the maps of all heads too
    const int64_t heads = config.get_size("encoder_attention_heads");
    if (size == config.get_size("d_model") + heads) return (size - heads) / divisor + heads;
  }
  const bool is_width = axis == 1 && name.ends_with(".weight");
  if (has_any(name, {"position", "wpe"}) && !is_width) {
    for (const char* key : kPositionKeys) {
      const int64_t behind = size - config.get_size(key, size + 1);  // rows for no position
      if (behind == 0 || behind == 2) return kPositions + behind;
    }
  }
  return size % divisor == 0 ? size / divisor : size;
}

Listing read_listing(const fs::path& path) {
  const Json json = Json::parse(read_text_file(path), path.string());
  const Config config(json.at("config", path.string()), path.string());
  const int64_t divisor = divisor_of(config);
  Listing listing{shrunk(config, divisor), {}};
  for (const auto& [name, sizes] : json.at("tensors", "tensors").as_object("tensors")) {
    // Towers have sizes of their own; a patch stays as large as it is.
    const bool of_text = name.starts_with("text_model.") && config.has("text_config");
    const Config sizes_of = of_text ? config.section("text_config") : config;
    const std::vector<Json>& list = sizes.as_array(name);
    const bool patches = list.size() == 4 && has_any(name, {"patch_embedding"});
    std::vector<int64_t> shape;
    for (const Json& size : list) {
      const bool keep = patches && !shape.empty();
      shape.push_back(keep ? size.as_int(name)
                           : shrunk(size.as_int(name), shape.size(), name, sizes_of, divisor));
    }
    listing.tensors.push_back({name, DType::kF32, Shape(shape), "F32"});
  }
  return listing;
}

// Builds the model and says which names it does not know; `read` gets those it has read.
std::vector<std::string> build(const Listing& listing, std::set<std::string>* read = nullptr) {
  const Weights weights(std::make_shared<ListedSource>(listing.tensors));
  const Architecture architecture = architecture_named(listing.config);
  const auto model = architecture.build({listing.config, {weights, DType::kF32}});
  if (read != nullptr) {
    for (const TensorInfo& tensor : listing.tensors) read->insert(tensor.name);
    for (const std::string& name : weights.unused()) read->erase(name);
  }
  return unknown_weights(architecture, weights);
}

std::vector<fs::path> all_listings() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(test_data("checkpoint_names"))) {
    files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

class CheckpointNames : public ::testing::TestWithParam<fs::path> {};

TEST_P(CheckpointNames, EveryTensorIsReadOrKnownNotToBeNeeded) {
  const Listing listing = read_listing(GetParam());
  std::set<std::string> read;
  EXPECT_THAT(build(listing, &read), IsEmpty());
  // Blocks make up nearly all of a checkpoint: none of theirs may be left out but old buffers.
  for (const TensorInfo& tensor : listing.tensors) {
    const bool in_block = has_any(tensor.name, {".layer.", "layers.", "h.0."});
    const bool buffer = tensor.shape.rank() == 4 ||
                        has_any(tensor.name, {"masked_bias", "inv_freq",
                                              "EncDecAttention.relative_attention_bias"});
    EXPECT_TRUE(!in_block || buffer || read.contains(tensor.name)) << tensor.name;
  }
}

TEST_P(CheckpointNames, ATensorTooManyIsNamed) {
  Listing listing = read_listing(GetParam());
  listing.tensors.push_back({"something.else.weight", DType::kF32, Shape{1}, "F32"});
  EXPECT_THAT(build(listing), ::testing::ElementsAre("something.else.weight"));
}

// Output scores that are the word embeddings again, and biases that may be missing; what two stacks
// share, and positions that can be computed.
bool is_optional(std::string_view name, const Config& config) {
  return has_any(name, {"lm_head.weight", "lm_head.bias", "lm_head.decoder", "decoder.weight",
                        "decoder.bias", "predictions.bias", "vocab_projector", "final_logits_bias",
                        "inv_freq"}) ||
         (has_any(name, {"coder.embed_tokens"}) && config.model_type() != "whisper") ||
         (has_any(name, {"coder.embed_positions"}) && config.model_type() == "marian");
}

TEST_P(CheckpointNames, AMissingTensorIsNamed) {
  const Listing whole = read_listing(GetParam());
  std::set<std::string> read;
  build(whole, &read);
  int tried = 0;
  for (const TensorInfo& tensor : whole.tensors) {
    const std::string& name = tensor.name;
    const bool later_block = std::ranges::any_of(
        std::views::iota(1, 128), [&](int i) { return has_any(name, {fmt::format(".{}.", i)}); });
    const bool later_stage = has_any(name, {".layer2.", ".layer3.", ".layer4."});  // of a ResNet
    if (later_block || later_stage || !read.contains(name) || is_optional(name, whole.config))
      continue;
    SCOPED_TRACE(name);
    Listing listing = whole;
    std::erase_if(listing.tensors, [&](const TensorInfo& other) { return other.name == name; });
    // Without the prefix that differs from file to file, and by the name that models use.
    std::string said = name.substr(name.find('.') + 1);
    if (name.starts_with("detr.model.")) said = name.substr(std::string_view("detr.model.").size());
    for (const auto& [old_name, new_name] :
         {std::pair{"LayerNorm.gamma", "LayerNorm.weight"}, {"LayerNorm.beta", "LayerNorm.bias"}}) {
      if (said.ends_with(old_name)) said.replace(said.rfind("LayerNorm"), said.npos, new_name);
    }
    EXPECT_TRUE(fails_with(ErrorKind::kBadFile, said, [&] { build(listing); }));
    ++tried;
  }
  EXPECT_GE(tried, 8);
}

INSTANTIATE_TEST_SUITE_P(Published, CheckpointNames, ::testing::ValuesIn(all_listings()),
                         [](const auto& file) { return file.param.stem().string(); });

TEST(CheckpointNamesFolder, EveryArchitectureHasAListing) {
  std::set<std::string> listed;
  for (const fs::path& path : all_listings()) {
    listed.insert(architecture_named(read_listing(path).config).name);
  }
  for (const Architecture& architecture : all_architectures()) {
    EXPECT_TRUE(listed.contains(architecture.name)) << architecture.name;
  }
}

}  // namespace
}  // namespace fovea
