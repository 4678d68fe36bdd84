#include "fovea/checkpoint/resolve.h"

#include <gtest/gtest.h>
#include <stdlib.h>  // setenv is POSIX, not in <cstdlib>

#include <optional>
#include <string>

#include "support/errors.h"
#include "support/temp_folder.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;

// Sets an environment variable, or removes it, until the end of the scope.
class Variable {
 public:
  Variable(const char* name, const std::optional<std::string>& value) : name_(name) {
    if (const char* old = ::getenv(name)) old_ = old;
    set(value);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() { set(old_); }

 private:
  void set(const std::optional<std::string>& value) {
    if (value) {
      ::setenv(name_, value->c_str(), 1);
    } else {
      ::unsetenv(name_);
    }
  }
  const char* name_;
  std::optional<std::string> old_;
};

class Resolve : public testing::Test {
 protected:
  Resolve() {
    caches_ = {.models = folder_ / "models", .hub = folder_ / "hub"};
    const fs::path repository = caches_.hub / "models--org--name";
    fs::create_directories(repository / "refs");
    fs::create_directories(repository / "blobs");
    fs::create_directories(repository / "snapshots" / "abc123");
    fs::create_directories(repository / "snapshots" / "old");
    write_text(repository / "refs" / "main", "abc123");
    write_text(repository / "blobs" / "0f0f", "{}");
    fs::create_symlink("../../blobs/0f0f", repository / "snapshots" / "abc123" / "config.json");
    fs::create_directories(caches_.models / "small");
    write_text(caches_.models / "tiny.gguf", "GGUF");
  }
  TempFolder folder_;
  ModelCaches caches_;
};

TEST_F(Resolve, FoldersAndFilesAreTakenAsTheyAre) {
  fs::create_directories(folder_ / "here");
  write_text(folder_ / "here/model.safetensors", "x");
  EXPECT_EQ(resolve_model((folder_ / "here").string(), caches_).folder, folder_ / "here");
  const ModelPlace place = resolve_model((folder_ / "here/model.safetensors").string(), caches_);
  EXPECT_EQ(place.file, folder_ / "here/model.safetensors");
  EXPECT_EQ(place.folder, folder_ / "here");
}

TEST_F(Resolve, AHubIdLeadsToTheSnapshotOfMain) {
  const ModelPlace place = resolve_model("org/name", caches_);
  EXPECT_EQ(place.folder, caches_.hub / "models--org--name/snapshots/abc123");
  EXPECT_EQ(read_text_file(place.folder / "config.json"), "{}");
  EXPECT_TRUE(place.file.empty());
}

TEST_F(Resolve, AnIdWithoutOrganisationIsFoundToo) {
  fs::create_directories(caches_.hub / "models--gpt2/snapshots/only");
  EXPECT_EQ(resolve_model("gpt2", caches_).folder, caches_.hub / "models--gpt2/snapshots/only");
  fs::create_directories(caches_.hub / "models--gpt2/snapshots/second");
  EXPECT_TRUE(fails_with(ErrorKind::kNotFound, "gpt2", [&] { resolve_model("gpt2", caches_); }));
}

TEST_F(Resolve, ARevisionIsABranchATagOrACommit) {
  const fs::path repository = caches_.hub / "models--org--name";
  fs::create_directories(repository / "refs/refs/pr");
  write_text(repository / "refs/v1.0", "old");
  write_text(repository / "refs/refs/pr/7", "old\n");
  EXPECT_EQ(resolve_model("org/name@main", caches_).folder, repository / "snapshots/abc123");
  EXPECT_EQ(resolve_model("org/name@v1.0", caches_).folder, repository / "snapshots/old");
  EXPECT_EQ(resolve_model("org/name@refs/pr/7", caches_).folder, repository / "snapshots/old");
  EXPECT_EQ(resolve_model("org/name@abc123", caches_).folder, repository / "snapshots/abc123");
  EXPECT_TRUE(fails_with(ErrorKind::kNotFound, "pull org/name@v2 from the hub",
                         [&] { resolve_model("org/name@v2", caches_); }));
  EXPECT_TRUE(fails_with(ErrorKind::kNotFound, "pull org/name@refs/pr from the hub",
                         [&] { resolve_model("org/name@refs/pr", caches_); }));
  for (const char* name : {"org/name@", "org/name@..", "org/name@../refs/main", "org/name@/abc123",
                           "org/name@a@b", "@main"}) {
    EXPECT_TRUE(fails_with(ErrorKind::kNotFound, "nor a model's name", [&] {
      resolve_model(name, caches_);
    })) << name;
  }
}

TEST_F(Resolve, FoveasOwnCacheIsLookedIntoFirst) {
  EXPECT_EQ(resolve_model("small", caches_).folder, caches_.models / "small");
  EXPECT_EQ(resolve_model("tiny.gguf", caches_).file, caches_.models / "tiny.gguf");
}

TEST_F(Resolve, ABundledModelHasANameToo) {
  caches_.bundled = {folder_ / "nowhere", folder_ / "bundled"};
  fs::create_directories(folder_ / "bundled/en-fr");
  EXPECT_FALSE(is_at_hand("en-fr", caches_));  // a folder without config.json is no model
  write_text(folder_ / "bundled/en-fr/config.json", "{}");
  EXPECT_EQ(resolve_model("en-fr", caches_).folder, folder_ / "bundled/en-fr");
  EXPECT_TRUE(is_at_hand("en-fr", caches_));
  EXPECT_TRUE(is_at_hand("small", caches_));
  EXPECT_FALSE(is_at_hand("fr-en", caches_));
}

TEST_F(Resolve, WhatIsNotFoundSaysWhereWasLookedAndWhatToDo) {
  EXPECT_TRUE(fails_with(ErrorKind::kNotFound, "pull org/other from the hub",
                         [&] { resolve_model("org/other", caches_); }));
  EXPECT_TRUE(fails_with(ErrorKind::kNotFound, (caches_.hub / "models--org--other").string(),
                         [&] { resolve_model("org/other", caches_); }));
  EXPECT_TRUE(fails_with(ErrorKind::kNotFound, "no such file or folder",
                         [&] { resolve_model("a/b/c/model.bin", caches_); }));
  EXPECT_TRUE(
      fails_with(ErrorKind::kInvalidArgument, "is empty", [&] { resolve_model("", caches_); }));
}

TEST_F(Resolve, NamesCannotLeaveTheCaches) {
  fs::create_directories(folder_ / "secret");
  for (const char* name : {"../secret", "..", "./../secret", "org/..", "org/name/../x"}) {
    if (fs::exists(name)) continue;  // a path of the machine, which a user may give
    EXPECT_TRUE(fails_with(ErrorKind::kNotFound, "", [&] { resolve_model(name, caches_); }))
        << name;
  }
  write_text(caches_.hub / "models--org--name/refs/main", "../../../secret");
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "name of a commit",
                         [&] { resolve_model("org/name", caches_); }));
  write_text(caches_.hub / "models--org--name/refs/main", "gone\n");
  EXPECT_TRUE(fails_with(ErrorKind::kNotFound, "pull org/name from the hub",
                         [&] { resolve_model("org/name", caches_); }));
}

TEST(ModelCaches, WithoutAHomeAreThoseOfTheUserAndNeverInTheCurrentFolder) {
  const Variable home("HOME", std::nullopt), xdg("XDG_CACHE_HOME", std::nullopt);
  const Variable own("FOVEA_CACHE", std::nullopt), hf_home("HF_HOME", std::nullopt);
  const Variable hub("HF_HUB_CACHE", std::nullopt);
  EXPECT_TRUE(ModelCaches::from_environment().models.is_absolute());
  EXPECT_TRUE(ModelCaches::from_environment().hub.is_absolute());
}

TEST(ModelCaches, AFrontEndThatIsNoProgramSaysWhereItsModelsAre) {
  const TempFolder folder;
  const Variable unset("FOVEA_MODELS", std::nullopt);
  set_bundled_models(folder / "models");
  EXPECT_EQ(ModelCaches::from_environment().bundled.front(), folder / "models");
  const Variable other("FOVEA_MODELS", "/elsewhere");
  EXPECT_EQ(ModelCaches::from_environment().bundled, std::vector<fs::path>{"/elsewhere"});
  set_bundled_models({});
}

TEST(ModelCaches, FollowTheEnvironment) {
  const Variable home("HOME", "/h");
  const Variable own("FOVEA_CACHE", std::nullopt);
  const Variable xdg("XDG_CACHE_HOME", std::nullopt);
  const Variable hf_home("HF_HOME", std::nullopt);
  const Variable hub("HF_HUB_CACHE", std::nullopt);
  EXPECT_EQ(ModelCaches::from_environment().models, "/h/.cache/fovea/models");
  EXPECT_EQ(ModelCaches::from_environment().hub, "/h/.cache/huggingface/hub");
  const Variable xdg_set("XDG_CACHE_HOME", "/x");
  EXPECT_EQ(ModelCaches::from_environment().models, "/x/fovea/models");
  EXPECT_EQ(ModelCaches::from_environment().hub, "/x/huggingface/hub");
  const Variable hf_home_set("HF_HOME", "~/hf");
  EXPECT_EQ(ModelCaches::from_environment().hub, "/h/hf/hub");
  const Variable hub_set("HF_HUB_CACHE", "/c");
  EXPECT_EQ(ModelCaches::from_environment().hub, "/c");
  const Variable bundled("FOVEA_MODELS", "/b");
  EXPECT_EQ(ModelCaches::from_environment().bundled, std::vector<fs::path>{"/b"});
  const Variable own_set("FOVEA_CACHE", "/o");
  EXPECT_EQ(ModelCaches::from_environment().models, "/o/models");
}

}  // namespace
}  // namespace fovea
