#include "fovea/checkpoint/pull.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fovea/checkpoint/blob_file.h"
#include "fovea/checkpoint/http.h"
#include "fovea/checkpoint/resolve.h"
#include "support/errors.h"
#include "support/temp_folder.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

constexpr const char* kSha256OfAbc =
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
constexpr const char* kGitNameOfHello = "ce013625030ba8dba906f756967f9e9ca394464a";  // "hello\n"

HubModel model_of(const std::vector<std::string>& names) {
  HubModel model{.commit = "abc123", .files = {}};
  for (const std::string& name : names) model.files.push_back({name, 1, kGitNameOfHello});
  return model;
}

std::vector<std::string> names_of(const std::vector<HubFile>& files) {
  std::vector<std::string> names;
  for (const HubFile& file : files) names.push_back(file.name);
  return names;
}

std::vector<std::string> chosen(const std::vector<std::string>& names, std::string_view file = "") {
  return names_of(choose_files({.id = "org/name", .revision = ""}, model_of(names), file));
}

TEST(ChooseFiles, TakesWhatFoveaReadsAndNothingElse) {
  EXPECT_THAT(
      chosen({"README.md", "config.json", "tokenizer.json", "source.spm", "a/tokenizer.json",
              "1_Pooling/config.json", "onnx/config.json", "training_args.bin", "model.safetensors",
              "pytorch_model.bin", "spiece.model", "a/spiece.model"}),
      ElementsAre("config.json", "tokenizer.json", "source.spm", "1_Pooling/config.json",
                  "model.safetensors", "spiece.model"));
}

TEST(ChooseFiles, PrefersWeightsInTheOrderInWhichTheyAreOpened) {
  EXPECT_THAT(chosen({"pytorch_model.bin", "model.safetensors.index.json"}),
              ElementsAre("model.safetensors.index.json"));
  EXPECT_THAT(chosen({"pytorch_model.bin.index.json", "pytorch_model.bin"}),
              ElementsAre("pytorch_model.bin"));
  EXPECT_THAT(chosen({"model.safetensors", "a.gguf", "config.json"}, "a.gguf"),
              ElementsAre("a.gguf", "config.json"));
  // One part of a split file stands for all of them.
  EXPECT_THAT(chosen({"q/m-00001-of-00002.gguf", "q/m-00002-of-00002.gguf", "n.gguf"},
                     "q/m-00002-of-00002.gguf"),
              ElementsAre("q/m-00001-of-00002.gguf", "q/m-00002-of-00002.gguf"));
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "2 parts, but there is no 'm-00002-of-00002.gguf'",
                         [] { chosen({"m-00001-of-00002.gguf"}, "m-00001-of-00002.gguf"); }));
}

TEST(ChooseFiles, NamesWhatThereIsInstead) {
  EXPECT_TRUE(
      fails_with(ErrorKind::kNotFound, Field{"file"}, "choose one of them: a.gguf, q/b.gguf", [] {
        chosen({"a.gguf", "q/b.gguf"});
      }));
  EXPECT_TRUE(
      fails_with(ErrorKind::kNotFound, "only tf_model.h5", [] { chosen({"tf_model.h5"}); }));
  EXPECT_TRUE(fails_with(ErrorKind::kNotFound, "no weights at all", [] { chosen({}); }));
  EXPECT_TRUE(fails_with(ErrorKind::kNotFound, "it has a.gguf", [] { chosen({"a.gguf"}, "b"); }));
  const std::vector<std::string> many(30, "same.gguf");
  EXPECT_TRUE(fails_with(ErrorKind::kNotFound, "and 22 more", [&] { chosen(many); }));
}

TEST(ListShards, TakesEachNamedFileOnce) {
  const TempFolder folder;
  const HubName name{.id = "org/name", .revision = ""};
  const HubModel model = model_of({"b", "a", "c"});
  write_text(folder / "index", R"({"weight_map": {"x": "b", "y": "a", "z": "b"}})");
  EXPECT_THAT(names_of(list_shards(name, model, folder / "index")), ElementsAre("a", "b"));
  write_text(folder / "index", R"({"weight_map": {"x": "../b"}})");
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "'../b'",
                         [&] { list_shards(name, model, folder / "index"); }));
}

TEST(HubListing, GivesSizesAndChecksums) {
  const HubModel model =
      parse_hub_model(fmt::format(R"({{"sha": "c0ffee", "siblings": [
        {{"rfilename": "a", "size": 6, "blobId": "{}"}},
        {{"rfilename": "b", "size": 3, "blobId": "{}", "lfs": {{"sha256": "{}", "size": 3}}}},
        {{"rfilename": "c/d"}}]}})",
                                  kGitNameOfHello, kGitNameOfHello, kSha256OfAbc),
                      "hub");
  EXPECT_EQ(model.commit, "c0ffee");
  ASSERT_EQ(model.files.size(), 3);
  EXPECT_EQ(model.find("a")->etag, kGitNameOfHello);
  EXPECT_EQ(model.find("a")->size, 6);
  EXPECT_EQ(model.find("b")->etag, kSha256OfAbc);
  EXPECT_EQ(model.find("c/d")->etag, "");
  EXPECT_EQ(model.find("d"), nullptr);
}

TEST(HubListing, RefusesNamesThatLeaveTheFolder) {
  for (const char* name : {"../a", "/a", "a/../../b", "a//b", "a/.", "", "a\\\\b", "a\\u0000b",
                           "a\\u001bb", "..", "a/"}) {
    const std::string text =
        fmt::format(R"({{"sha": "c0ffee", "siblings": [{{"rfilename": "{}"}}]}})", name);
    EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "outside the model's folder", [&] {
      parse_hub_model(text, "hub");
    })) << name;
  }
  for (const char* commit : {"", "..", "a/b", ".git"}) {
    const std::string text = fmt::format(R"({{"sha": "{}", "siblings": []}})", commit);
    EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "commit", [&] { parse_hub_model(text, "hub"); }));
  }
}

TEST(HttpOrigin, TellsHostsApart) {
  EXPECT_EQ(http_origin("https://Hub.co/a?b"), http_origin("https://hub.co:443"));
  EXPECT_NE(http_origin("https://hub.co"), http_origin("http://hub.co"));
  EXPECT_NE(http_origin("https://hub.co"), http_origin("https://hub.co:8443"));
  EXPECT_NE(http_origin("https://hub.co"), http_origin("https://hub.co.evil.com"));
  EXPECT_NE(http_origin("https://hub.co"), http_origin("https://hub.co@evil.com"));
  EXPECT_TRUE(http_origin("file:///etc/passwd").empty());
  EXPECT_TRUE(http_origin("no address").empty());
}

class BlobFiles : public testing::Test {
 protected:
  void write(BlobFile& blob, std::string_view text) { blob.write(as_bytes(text)); }
  TempFolder folder_;
  Progress progress_{"test", 6};
  HubFile file_{.name = "hello.txt", .size = 6, .etag = kGitNameOfHello};
  fs::path path_ = folder_ / kGitNameOfHello;
};

TEST_F(BlobFiles, GoOnWhereTheyWereBrokenOff) {
  {
    BlobFile blob(path_, file_, progress_);
    write(blob, "hel");
  }
  EXPECT_EQ(incomplete_bytes(path_), 3);
  BlobFile blob(path_, file_, progress_);
  EXPECT_EQ(blob.position(), 3);
  write(blob, "lo\n");
  blob.finish();
  EXPECT_EQ(blob.received(), 3);
  EXPECT_EQ(read_text_file(path_), "hello\n");
  EXPECT_THAT(folder_.list(), ElementsAre(kGitNameOfHello));
}

TEST_F(BlobFiles, AreRemovedIfTheChecksumIsWrong) {
  {
    BlobFile blob(path_, file_, progress_);
    write(blob, "jello\n");
    EXPECT_TRUE(fails_with(ErrorKind::kBadFile, kGitNameOfHello, [&] { blob.finish(); }));
  }
  EXPECT_TRUE(folder_.list().empty());
}

TEST_F(BlobFiles, TakeNoMoreThanTheirSize) {
  BlobFile blob(path_, file_, progress_);
  write(blob, "hello");
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "6 bytes", [&] { write(blob, "\n\n"); }));
  EXPECT_EQ(blob.position(), 0);
}

TEST_F(BlobFiles, BeginAgainIfThereIsMoreThanTheirSize) {
  write_text(path_.string() + ".incomplete", "something else");
  BlobFile blob(path_, file_, progress_);
  EXPECT_EQ(blob.position(), 0);
  write(blob, "hello\n");
  blob.finish();
  EXPECT_EQ(read_text_file(path_), "hello\n");
}

TEST(PublishedModels, AreFoundByEveryNameOfTheirs) {
  const TempFolder folder;
  const fs::path hub = folder / "hub";
  const ModelCaches caches{.models = folder / "models", .hub = hub};
  const fs::path repository = hub_folder(hub, "org/name");
  fs::create_directories(repository / "blobs");
  write_text(repository / "blobs" / kGitNameOfHello, "hello\n");
  PulledModel model{.name = {.id = "org/name", .revision = "refs/pr/1"}, .commit = "abc123"};
  model.folder = repository / "snapshots/abc123";
  model.files = {{"config.json", 6, kGitNameOfHello},
                 {"1_Pooling/config.json", 6, kGitNameOfHello}};
  for (int i = 0; i < 2; ++i) {  // once more changes nothing
    publish_model(model, hub);
    for (const HubFile& file : model.files) {
      EXPECT_TRUE(fs::is_symlink(model.folder / file.name));
      EXPECT_EQ(read_text_file(model.folder / file.name), "hello\n");
    }
  }
  EXPECT_EQ(resolve_model("org/name@refs/pr/1", caches).folder, model.folder);
  EXPECT_EQ(resolve_model("org/name@abc123", caches).folder, model.folder);
  fs::rename(hub, folder / "moved");  // the links are relative
  EXPECT_EQ(read_text_file(folder / "moved/models--org--name/snapshots/abc123/config.json"),
            "hello\n");
}

}  // namespace
}  // namespace fovea
