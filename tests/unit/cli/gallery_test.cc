// The gallery's items and the commands below their pictures.
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "fovea/cli/gallery/items.h"

namespace fovea {
namespace {

std::string command_of(const GalleryItem& item) {
  return fmt::format("{}", fmt::join(command_words(item), " "));
}

GalleryItem item_of(const char* model, const char* input, const char* question) {
  return {.model = model,
          .input = Json::parse(input, "input"),
          .question = Json::parse(question, "question")};
}

TEST(GalleryItems, AreReadAsTheFileHasThem) {
  const GalleryItems items = gallery_items();
  ASSERT_EQ(items.chapters.size(), 9u);
  for (const Chapter& chapter : items.chapters) {
    bool has_face = false;
    for (const GalleryPicture& picture : chapter.pictures) {
      has_face = has_face || picture.item.file == chapter.face;
      EXPECT_FALSE(picture.item.file.empty()) << chapter.id;
      EXPECT_TRUE(command_of(picture.item).ends_with(" --out " + picture.item.file));
    }
    EXPECT_TRUE(has_face) << chapter.face;
  }
  EXPECT_EQ(command_of(items.chapters[0].pictures[0].item),
            "text The cat sat on the mat because it was tired. --layer 2 --out 1-heads.png");
  EXPECT_EQ(items.chapters[2].pictures[2].width, PictureWidth::kThird);
}

TEST(CommandWords, NameAModelOnlyWhereTheVerbWouldTakeAnother) {
  EXPECT_EQ(command_of(item_of("gpt2", R"({"text": "A b"})", "{}")), "text -m gpt2 A b");
  EXPECT_EQ(command_of(item_of("all-minilm-l6-v2", R"({"text": "A b"})", "{}")), "text A b");
  EXPECT_EQ(command_of(item_of("en-fr", R"({"text": "A b"})", R"({"kind": "align"})")),
            "translate A b");
  EXPECT_EQ(command_of(item_of("en-fr", R"({"text": "A", "target": "B"})", R"({"kind": "steps"})")),
            "steps A --target B");
  EXPECT_EQ(command_of(item_of("scenes-vit", R"({"picture": "a.png"})", R"({"kind": "explain"})")),
            "explain a.png");
}

TEST(CommandWords, NameAViewOnlyWhereTheFieldsMeanAnother) {
  const auto detect = [](const char* question) {
    return command_of(item_of("scenes-detr", R"({"picture": "a.png", "size": [30, 20]})", question))
        .substr(std::string("detect a.png --size 30x20").size());
  };
  EXPECT_EQ(detect(R"({"kind": "objects"})"), "");
  EXPECT_EQ(detect(R"({"kind": "queries", "layer": 1})"), " --view queries --layer 1");
  EXPECT_EQ(detect(R"({"kind": "cell_matrix"})"), " --view matrix");
  EXPECT_EQ(detect(R"({"kind": "cell_matrix", "rows": [1, 3]})"), " --rows 1:3");
  EXPECT_EQ(detect(R"({"kind": "points", "at": [[1, 2], [3, 4]]})"), " --at 1,2:3,4");
  EXPECT_EQ(detect(R"({"kind": "why", "at": [1, 2], "to": [3, 4]})"), " --at 1,2 --to 3,4");
}

TEST(CommandWords, OfALongTextNameItsFile) {
  EXPECT_EQ(command_of(item_of("gpt2", R"({"text_file": "a.txt"})", R"({"layer": 1})")),
            "text -m gpt2 --text-file a.txt --layer 1");
}

TEST(CommandWords, OfVectorsGoWithTheirFile) {
  EXPECT_EQ(command_of(item_of("", R"({"vectors": "a.json"})", R"({"temperature": 0.05})")),
            "steps --vectors a.json --temperature 0.05");
}

}  // namespace
}  // namespace fovea
