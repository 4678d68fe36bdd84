#include "fovea/checkpoint/gguf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "fovea/checkpoint/ggml_type.h"
#include "fovea/checkpoint/gguf_architecture.h"
#include "fovea/checkpoint/gguf_config.h"
#include "fovea/checkpoint/gguf_metadata.h"
#include "fovea/checkpoint/gguf_parts.h"
#include "fovea/checkpoint/gguf_source.h"
#include "fovea/io/little_endian.h"
#include "support/errors.h"
#include "support/temp_folder.h"
#include "unit/checkpoint/checkpoint_test_support.h"

namespace fovea {
namespace {

using testing::ElementsAre;

// Writes a GGUF file value by value.
class GgufText {
 public:
  explicit GgufText(uint64_t tensors, uint64_t pairs, uint32_t version = 3) : text_("GGUF") {
    number(version).number(tensors).number(pairs);
  }
  template <typename T>
  GgufText& number(T value) {
    append_little_endian(text_, value);
    return *this;
  }
  GgufText& string(std::string_view value) {
    number(uint64_t{value.size()});
    text_ += value;
    return *this;
  }
  GgufText& key(std::string_view name, uint32_t type) { return string(name).number(type); }
  GgufText& tensor(std::string_view name, const std::vector<uint64_t>& sizes, uint32_t type,
                   uint64_t offset) {
    string(name).number(static_cast<uint32_t>(sizes.size()));
    for (const uint64_t size : sizes) number(size);
    return number(type).number(offset);
  }
  GgufText& data(size_t bytes) {
    text_.resize((text_.size() + 31) / 32 * 32 + bytes, '\0');
    return *this;
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

testing::AssertionResult gguf_refuses(ErrorKind kind, std::string_view part, const GgufText& file) {
  return fails_with(kind, part, [&] { GgufFile::parse(as_bytes(file.text()), "test"); });
}

testing::AssertionResult is_bad_gguf(std::string_view part, const GgufText& file) {
  return gguf_refuses(ErrorKind::kBadFile, part, file);
}

TEST(Gguf, TensorsAreThoseOfThePythonReaderUnderHubNames) {
  for (const char* name : {"llama", "qwen2"}) {
    SCOPED_TRACE(name);
    const auto path = checkpoint_data(name).replace_extension("gguf");
    expect_same_tensors(*gguf_weights(GgufFile::open(path)),
                        checkpoint_data(name).replace_extension("safetensors"));
  }
}

TEST(Gguf, MetadataOfEveryTypeIsRead) {
  const auto file = GgufFile::open(checkpoint_data("llama.gguf"));
  const GgufMetadata& metadata = file.metadata();
  EXPECT_EQ(metadata.get_int("test.u8"), 200);
  EXPECT_EQ(metadata.get_int("test.i8"), -100);
  EXPECT_EQ(metadata.get_int("test.u16"), 60000);
  EXPECT_EQ(metadata.get_int("test.i16"), -30000);
  EXPECT_EQ(metadata.get_int("test.i32"), -2000000000);
  EXPECT_EQ(metadata.get_int("test.i64"), -(int64_t{1} << 62));
  EXPECT_EQ(metadata.get_double("test.f64"), 0.1);
  EXPECT_EQ(metadata.get_bool("test.bool"), true);
  EXPECT_THAT(metadata.get_floats("test.floats"), ElementsAre(0.5F, -1.5F));
  EXPECT_EQ(metadata.get_int("none"), std::nullopt);
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "'test.u64'", [&] { metadata.get_int("test.u64"); }));
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "'test.u8' should be a string",
                         [&] { metadata.get_string("test.u8"); }));
  EXPECT_TRUE(
      fails_with(ErrorKind::kBadFile, "an array", [&] { metadata.get_strings("test.u8"); }));
  EXPECT_TRUE(
      fails_with(ErrorKind::kBadFile, "an array", [&] { metadata.get_ints("test.floats"); }));
}

TEST(Gguf, ArraysOfArraysAreRead) {
  GgufText file(0, 1);
  file.key("nested", 9).number(9U).number(uint64_t{2});
  for (const uint8_t value : {uint8_t{7}, uint8_t{8}})
    file.number(0U).number(uint64_t{1}).number(value);
  const auto parsed = GgufFile::parse(as_bytes(file.text()), "test");
  const auto& array = std::get<GgufArray>(parsed.metadata().find("nested")->value);
  EXPECT_EQ(array.count, 2U);
  EXPECT_EQ(std::get<GgufArray>(array.arrays[1].value).numbers[0], std::byte{8});
}

TEST(Gguf, TheTokenizerIsGivenAsItIs) {
  const auto file = GgufFile::open(checkpoint_data("llama.gguf"));
  const auto tokenizer = read_gguf_tokenizer(file);
  ASSERT_TRUE(tokenizer);
  EXPECT_EQ(tokenizer->model, "gpt2");
  EXPECT_EQ(tokenizer->pre, "smollm");
  EXPECT_EQ(tokenizer->tokens.size(), 10U);
  EXPECT_EQ(tokenizer->tokens[3], "t3é");
  EXPECT_EQ(tokenizer->types[0], 3);
  EXPECT_THAT(tokenizer->merges, ElementsAre("a b", "ab c"));
  EXPECT_EQ(tokenizer->eos_id, 2);
  EXPECT_EQ(tokenizer->padding_id, std::nullopt);
}

TEST(Gguf, TheConfigurationIsInHubTerms) {
  const Config config = gguf_config(GgufFile::open(checkpoint_data("llama.gguf")));
  EXPECT_EQ(config.model_type(), "llama");
  EXPECT_EQ(config.get_int("hidden_size"), 32);
  EXPECT_EQ(config.get_int("num_attention_heads"), 4);
  EXPECT_EQ(config.get_int("num_key_value_heads"), 2);
  EXPECT_EQ(config.get_int("head_dim"), 8);
  EXPECT_EQ(config.get_int("vocab_size"), 10);
  EXPECT_EQ(config.get_double("rms_norm_eps"), 1e-5);
  EXPECT_EQ(config.get_double("rope_theta"), 1e5);
  EXPECT_TRUE(config.get_bool("tie_word_embeddings"));
  EXPECT_FALSE(config.get_bool("attention_bias"));
  EXPECT_TRUE(
      gguf_config(GgufFile::open(checkpoint_data("qwen2.gguf"))).get_bool("attention_bias"));
}

TEST(Gguf, OtherArchitecturesAreRefusedWithThoseThatAreRead) {
  GgufText file(0, 1);
  file.key("general.architecture", 8).string("mamba");
  EXPECT_TRUE(fails_with(ErrorKind::kUnsupported, "'mamba'; of GGUF files fovea reads llama",
                         [&] { gguf_config(GgufFile::parse(as_bytes(file.text()), "test")); }));
  GgufText llama(0, 1);
  llama.key("general.architecture", 8).string("llama");
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "lacks 'llama.embedding_length'",
                         [&] { gguf_config(GgufFile::parse(as_bytes(llama.text()), "test")); }));
}

TEST(Gguf, HeadsThatAreRotatedInPartAreRefused) {
  GgufText file(0, 8);
  file.key("general.architecture", 8).string("llama");
  for (const auto& [name, value] : {std::pair{"embedding_length", 32U},
                                    {"block_count", 1U},
                                    {"attention.head_count", 2U},
                                    {"feed_forward_length", 8U},
                                    {"context_length", 8U},
                                    {"rope.dimension_count", 8U}}) {
    file.key(fmt::format("llama.{}", name), 4).number(value);
  }
  file.key("llama.attention.layer_norm_rms_epsilon", 6).number(1e-5F);
  EXPECT_TRUE(fails_with(ErrorKind::kUnsupported, "rotates 8 of the 16 numbers of a head",
                         [&] { gguf_config(GgufFile::parse(as_bytes(file.text()), "test")); }));
}

TEST(Gguf, NamesOfTheLlamaFamilyAreTranslated) {
  const auto gguf_to_hub_name = [](std::string_view name) {
    return find_gguf_architecture("llama")->hub_name(name);
  };
  EXPECT_EQ(gguf_to_hub_name("blk.17.ffn_down.weight"), "model.layers.17.mlp.down_proj.weight");
  EXPECT_EQ(gguf_to_hub_name("output.weight"), "lm_head.weight");
  EXPECT_EQ(gguf_to_hub_name("blk.0.attn_k_norm.weight"), "model.layers.0.self_attn.k_norm.weight");
  EXPECT_EQ(gguf_to_hub_name("blk.0.ffn_gate_exps.weight"), "blk.0.ffn_gate_exps.weight");
  EXPECT_EQ(gguf_to_hub_name("blk.weight"), "blk.weight");
  EXPECT_EQ(gguf_to_hub_name(""), "");
}

TEST(Gguf, RowsThatDoNotDivideIntoHeadsAreRefused) {
  const Tensor six = Tensor::from<float>({6}, std::vector<float>{0, 3, 1, 4, 2, 5});
  EXPECT_THAT(unpermute_heads(six, 1, "x").values<float>(), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "6 rows", [&] { unpermute_heads(six, 2, "x"); }));
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "6 rows", [&] { unpermute_heads(six, 4, "x"); }));
}

TEST(Gguf, AbsurdCountsAreRefusedBeforeAnythingIsAllocated) {
  constexpr uint64_t kHuge = uint64_t{1} << 60;
  EXPECT_TRUE(is_bad_gguf("announces 1152921504606846976 items of 'metadata'", GgufText(0, kHuge)));
  EXPECT_TRUE(is_bad_gguf("items of 'tensors'", GgufText(kHuge, 0)));
  EXPECT_TRUE(is_bad_gguf("items of 'k'", GgufText(0, 1).key("k", 9).number(8U).number(kHuge)));
  EXPECT_TRUE(
      is_bad_gguf("items of 'k'", GgufText(0, 1).key("k", 9).number(12U).number(UINT64_MAX)));
  EXPECT_TRUE(is_bad_gguf("more than the", GgufText(0, 1).number(kHuge).data(64)));
  EXPECT_TRUE(is_bad_gguf("'k'", GgufText(0, 1).key("k", 8).number(uint64_t{1000}).data(64)));
}

TEST(Gguf, DamagedMetadataIsRefused) {
  EXPECT_TRUE(is_bad_gguf("unknown type 13", GgufText(0, 1).key("k", 13).data(64)));
  EXPECT_TRUE(is_bad_gguf(
      "'k' twice", GgufText(0, 2).key("k", 7).number(uint8_t{1}).key("k", 7).number(uint8_t{1})));
  EXPECT_TRUE(
      is_bad_gguf("power of two", GgufText(0, 1).key("general.alignment", 4).number(48U).data(64)));
  GgufText deep(0, 1);
  deep.key("k", 9);
  for (int i = 0; i < 10; ++i) deep.number(9U).number(uint64_t{1});
  EXPECT_TRUE(is_bad_gguf("nests arrays deeper", deep.data(64)));
}

TEST(Gguf, OtherVersionsAndFilesAreRefused) {
  EXPECT_TRUE(gguf_refuses(ErrorKind::kUnsupported, "version 1", GgufText(0, 0, 1)));
  EXPECT_TRUE(gguf_refuses(ErrorKind::kUnsupported, "big-endian", GgufText(0, 0, 3U << 24)));
  EXPECT_NO_THROW(GgufFile::parse(as_bytes(GgufText(0, 0, 2).text()), "test"));
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "does not begin with 'GGUF'",
                         [] { GgufFile::parse(as_bytes("GGML...."), "test"); }));
}

TEST(Gguf, EveryTensorIsCheckedAgainstTheFile) {
  EXPECT_NO_THROW(
      GgufFile::parse(as_bytes(GgufText(1, 0).tensor("t", {4}, 0, 0).data(16).text()), "test"));
  EXPECT_TRUE(is_bad_gguf("needs 16 bytes from byte 0 of the data but the file has 15",
                          GgufText(1, 0).tensor("t", {4}, 0, 0).data(15)));
  EXPECT_TRUE(is_bad_gguf("from byte 32", GgufText(1, 0).tensor("t", {4}, 0, 32).data(16)));
  EXPECT_TRUE(is_bad_gguf("not a multiple of 32", GgufText(1, 0).tensor("t", {4}, 0, 8).data(64)));
  EXPECT_TRUE(is_bad_gguf("5 axes", GgufText(1, 0).tensor("t", {1, 1, 1, 1, 1}, 0, 0).data(64)));
  EXPECT_TRUE(is_bad_gguf("negative size", GgufText(1, 0).tensor("t", {~0ULL}, 0, 0).data(64)));
  EXPECT_TRUE(is_bad_gguf("memory can address",
                          GgufText(1, 0).tensor("t", {1ULL << 62, 1ULL << 62}, 0, 0).data(64)));
  EXPECT_TRUE(is_bad_gguf("rows of 33", GgufText(1, 0).tensor("t", {33}, 8, 0).data(64)));
  EXPECT_TRUE(is_bad_gguf("two tensors are called 't'",
                          GgufText(2, 0).tensor("t", {4}, 0, 0).tensor("t", {4}, 0, 0).data(64)));
}

TEST(Gguf, TypesThatAreNotReadAreRefusedByName) {
  const std::pair<uint32_t, const char*> types[] = {
      {9, "Q8_1;"}, {16, "IQ2_XXS;"}, {40, "NVFP4;"}, {4, "number 4;"}, {1000, "number 1000;"}};
  for (const auto& [type, name] : types) {
    EXPECT_TRUE(gguf_refuses(ErrorKind::kUnsupported, name,
                             GgufText(1, 0).tensor("t", {256}, type, 0).data(256)));
  }
}

TEST(Gguf, TruncatedAtAnyByteIsOneClearError) {
  const std::string whole = read_fixture("llama.gguf");
  const auto file = GgufFile::parse(as_bytes(whole), "test");
  uint64_t end = 0;  // padding may follow
  for (const GgufFile::Entry& entry : file.entries()) end = std::max(end, entry.end);
  for (size_t size = 0; size < end; ++size) {
    ASSERT_TRUE(fails_cleanly([&] {
      GgufFile::parse(as_bytes(std::string_view(whole).substr(0, size)), "test");
    })) << size;
  }
}

// The fixture has random bits in every byte (tools/fixtures/make_block_answers.py).
TEST(Gguf, BlocksAreTheNumbersOfThePythonReader) {
  const auto blocks = SafetensorsFile::open(checkpoint_data("blocks.safetensors"));
  int formats = 0;
  for (uint32_t id = 0; id < 64; ++id) {
    const GgmlType* type = find_ggml_type(id);
    if (type == nullptr || !type->format) continue;
    SCOPED_TRACE(type->name);
    ++formats;
    const std::string name(type->name);
    const Tensor stored = blocks.tensor(name + ".blocks");
    const Tensor wanted = blocks.tensor(name + ".numbers");
    GgufText file(1, 0);
    file.tensor("t", {static_cast<uint64_t>(wanted.size(1)), static_cast<uint64_t>(wanted.size(0))},
                id, 0);
    const std::string text =
        file.data(0).text() + std::string(as_text({stored.raw(), stored.bytes()}));
    const auto parsed = GgufFile::parse(as_bytes(text), "test");
    EXPECT_TRUE(same_tensor(parsed.tensor(parsed.entries()[0]), wanted));
    const StoredMatrix matrix = parsed.matrix(parsed.entries()[0]);
    EXPECT_EQ(matrix.shape(), wanted.shape());
    EXPECT_EQ(matrix.bytes(), stored.bytes());  // it stays as it is
  }
  EXPECT_EQ(formats, 13);
}

TEST(Gguf, ADamagedBlockIsRefusedWithItsTensor) {
  std::string text = GgufText(1, 0).tensor("weak", {256, 3}, 12, 0).data(3 * 144).text();
  text[text.size() - 144 + 1] = 0x7C;  // the last block's scale is infinite
  const auto file = GgufFile::parse(as_bytes(text), "test");
  for (const bool as_matrix : {false, true}) {
    EXPECT_TRUE(
        fails_with(ErrorKind::kBadFile, "tensor 'weak' has a block of Q4_K whose scale", [&] {
          if (as_matrix) {
            static_cast<void>(file.matrix(file.entries()[0]));
          } else {
            static_cast<void>(file.tensor(file.entries()[0]));
          }
        }));
  }
}

// A whole file of one part of a model, with one tensor of four zeros.
std::string part_of_model(uint16_t number, uint16_t parts, std::string_view tensor) {
  return GgufText(1, 2)
      .key("split.no", 2)
      .number(number)
      .key("split.count", 2)
      .number(parts)
      .tensor(tensor, {4}, 0, 0)
      .data(16)
      .text();
}

TEST(Gguf, ASplitModelIsOpenedByTheNameOfAnyPart) {
  const TempFolder folder;
  const auto at = [&](int part) { return folder / fmt::format("m-{:05}-of-00003.gguf", part + 1); };
  const auto write = [](const std::filesystem::path& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
  };
  for (int i = 0; i < 3; ++i) {
    write(at(i),
          part_of_model(static_cast<uint16_t>(i), 3, std::string(1, static_cast<char>('a' + i))));
  }
  for (int i = 0; i < 3; ++i) {
    const auto file = GgufFile::open(at(i));
    ASSERT_EQ(file.entries().size(), 3U);
    EXPECT_EQ(file.source(), at(0).string());
    EXPECT_EQ(file.source(file.find("c")->part), at(2).string());
    EXPECT_EQ(file.tensor(*file.find("c")).elements(), 4);
  }
  write(at(2), part_of_model(2, 3, "a"));
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "two tensors are called 'a'",
                         [&] { GgufFile::open(at(0)); }));
  write(at(2), part_of_model(1, 3, "c"));
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "is called part 3 of 3 but says that it is part 2",
                         [&] { GgufFile::open(at(0)); }));
  std::filesystem::remove(at(2));
  EXPECT_TRUE(fails_with(ErrorKind::kNotFound, "m-00003-of-00003.gguf is not beside it",
                         [&] { GgufFile::open(at(0)); }));
  std::filesystem::rename(at(1), folder / "renamed.gguf");
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "is one of 3 parts of a model but is not called so",
                         [&] { GgufFile::open(folder / "renamed.gguf"); }));
}

TEST(Gguf, NamesOfPartsAreToldFromOtherNames) {
  EXPECT_THAT(gguf_part_names("m-00002-of-00002.gguf"),
              ElementsAre("m-00001-of-00002.gguf", "m-00002-of-00002.gguf"));
  for (const char* name : {"m.gguf", "m-00003-of-00002.gguf", "m-00000-of-00002.gguf",
                           "m-1-of-2.gguf", "m-0000a-of-00002.gguf", "-00001-of-00002.gguf"}) {
    EXPECT_TRUE(gguf_part_names(name).empty()) << name;
  }
}

}  // namespace
}  // namespace fovea
