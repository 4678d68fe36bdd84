#include "fovea/checkpoint/whisper_config.h"

#include <gtest/gtest.h>

#include "fovea/checkpoint/checkpoint.h"
#include "fovea/io/zip_writer.h"
#include "support/errors.h"
#include "support/temp_folder.h"

namespace fovea {
namespace {

using Dims = std::vector<std::pair<std::string, int64_t>>;

const Dims kTiny{{"n_mels", 80},         {"n_vocab", 51864},    {"n_audio_ctx", 1500},
                 {"n_audio_state", 384}, {"n_audio_head", 6},   {"n_audio_layer", 4},
                 {"n_text_ctx", 448},    {"n_text_state", 384}, {"n_text_head", 6},
                 {"n_text_layer", 4}};

std::string pickled_string(std::string_view value) {
  return std::string("\x8c") + static_cast<char>(value.size()) + std::string(value);
}

std::string number_of(int64_t value) {
  std::string text = "\x8a\x08";
  for (int shift = 0; shift < 64; shift += 8) text += static_cast<char>(value >> shift & 0xff);
  return text;
}

std::string dict_of(const Dims& dims) {
  std::string result = "}(";
  for (const auto& [name, value] : dims) result += pickled_string(name) + number_of(value);
  return result + "u";
}

// What torch.save writes for {"dims": `dims`, "model_state_dict": {"w": a tensor of one number}}.
void save(const std::filesystem::path& path, std::string_view dims) {
  const std::string tensor = "ctorch._utils\n_rebuild_tensor_v2\n((" + pickled_string("storage") +
                             "ctorch\nFloatStorage\n" + pickled_string("0") +
                             pickled_string("cpu") + number_of(1) + "tQ" + number_of(0) + "(" +
                             number_of(1) + "t(" + number_of(1) + "t\x89}tR";
  const std::string pickle = "\x80\x02}(" + pickled_string("dims") + std::string(dims) +
                             pickled_string("model_state_dict") + "}(" + pickled_string("w") +
                             tensor + "uu.";
  write_file_atomic(path, [&](FileWriter& file) {
    ZipWriter zip(file);
    const auto add = [&](std::string_view name, std::string_view text) {
      const Bytes parts[] = {as_bytes(text)};
      zip.add(name, parts);
    };
    add("archive/data.pkl", pickle);
    add("archive/byteorder", "little");
    add("archive/data/0", std::string(4, '\0'));
    zip.finish();
  });
}

Dims with(Dims dims, std::string_view name, int64_t value) {
  for (auto& dim : dims) {
    if (dim.first == name) dim.second = value;
  }
  return dims;
}

TEST(WhisperConfig, TheSizesOfOpenAiBecomeAConfiguration) {
  const TempFolder folder;
  save(folder / "tiny.en.pt", dict_of(kTiny));
  const Checkpoint checkpoint = open_checkpoint((folder / "tiny.en.pt").string());
  const Config& config = checkpoint.config;
  EXPECT_EQ(config.model_type(), "whisper");
  EXPECT_EQ(config.get_int("d_model"), 384);
  EXPECT_EQ(config.get_int("encoder_ffn_dim"), 1536);
  EXPECT_EQ(config.get_int("decoder_start_token_id"), 50257);
  EXPECT_TRUE(checkpoint.weights.has("w"));
}

TEST(WhisperConfig, ModelsOfManyLanguagesBeginOneWordLater) {
  const TempFolder folder;
  save(folder / "tiny.pt", dict_of(with(kTiny, "n_vocab", 51865)));
  const auto config = find_whisper_config(TorchFile::open(folder / "tiny.pt"));
  EXPECT_EQ(config->get_int("eos_token_id"), 50257);
  EXPECT_EQ(config->get_int("decoder_start_token_id"), 50258);
}

TEST(WhisperConfig, AConfigurationBesideTheFileComesFirst) {
  const TempFolder folder;
  save(folder / "tiny.pt", dict_of(kTiny));
  write_text(folder / "config.json", R"({"model_type": "other"})");
  EXPECT_EQ(open_checkpoint((folder / "tiny.pt").string()).config.model_type(), "other");
}

TEST(WhisperConfig, SizesThatAreMissingOrCannotBeAreNamed) {
  const TempFolder folder;
  const auto refused = [&](std::string_view part, const Dims& dims) {
    save(folder / "x.pt", dict_of(dims));
    return fails_with(ErrorKind::kBadFile, part,
                      [&] { open_checkpoint((folder / "x.pt").string()); });
  };
  for (const auto& [name, value] : kTiny) {
    Dims missing = kTiny;
    std::erase_if(missing, [&](const auto& dim) { return dim.first == name; });
    EXPECT_TRUE(refused("nothing for " + name, missing));
    for (const int64_t wrong : {int64_t{0}, int64_t{-1}, int64_t{1} << 40}) {
      EXPECT_TRUE(refused(fmt::format("{} for {}", wrong, name), with(kTiny, name, wrong)));
    }
  }
  EXPECT_TRUE(refused("384 wide but its decoder 512", with(kTiny, "n_text_state", 512)));
}

TEST(WhisperConfig, OtherFilesStillNeedAConfiguration) {
  const TempFolder folder;
  for (const std::string& dims : {number_of(3), pickled_string("tiny"), std::string("}")}) {
    save(folder / "x.pt", dims);
    EXPECT_TRUE(fails_with(ErrorKind::kNotFound, "config.json",
                           [&] { open_checkpoint((folder / "x.pt").string()); }));
  }
}

}  // namespace
}  // namespace fovea
