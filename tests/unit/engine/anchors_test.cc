#include "fovea/engine/anchors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "fovea/engine/translator.h"
#include "fovea/models/seq2seq_model.h"
#include "support/data.h"
#include "support/errors.h"

namespace fovea {
namespace {

// Tokens by their text; "<s>" and "</s>" are special. Ids count from `first_id`.
struct Row {
  std::vector<Position> positions;
  std::vector<int64_t> ids;

  Row(const std::vector<std::string>& tokens, int64_t first_id) {
    for (const std::string& token : tokens) {
      positions.push_back({.text = token, .special = token.ends_with("s>")});
      ids.push_back(first_id++);
    }
  }
  operator TokenRow() const { return {positions, ids}; }  // NOLINT(google-explicit-constructor)
};

Alignment anchors(const std::vector<std::string>& source, const std::vector<std::string>& target) {
  return piece_anchors(Row(source, 0), Row(target, 0), {});
}

TEST(PieceAnchors, AreTheSameTokenOnBothSidesButForItsCase) {
  EXPECT_EQ(anchors({"·In", "·1992", ",", "·Paris", "</s>"}, {"·PARIS", "·en", "·1992", "·in"}),
            (Alignment{{0, 3}, {1, 2}, {3, 0}}));
  EXPECT_EQ(anchors({"·ÉTÉ"}, {"·été"}), (Alignment{{0, 0}}));
}

TEST(PieceAnchors, ATokenThatOccursTwiceOnASideIsNone) {
  EXPECT_EQ(anchors({",", "·a", ","}, {",", "·a"}), (Alignment{{1, 1}}));
  EXPECT_EQ(anchors({"·a", ","}, {",", "·a", "·A"}), (Alignment{{1, 0}}));
}

TEST(PieceAnchors, APieceWithinAWordIsAnotherThanAWord) {
  EXPECT_EQ(anchors({"·man"}, {"man"}), Alignment());
}

TEST(PieceAnchors, SpecialTokensAreLeftOut) {
  EXPECT_EQ(anchors({"<s>", "·a", "</s>"}, {"</s>", "·b", "<s>"}), Alignment());
  EXPECT_EQ(anchors({}, {"·a"}), Alignment());
}

// Directions: ids 0 and 3 east, 1 and 4 north, 2 and 5 between, of any length; 6 is zero.
Tensor table() {
  const std::vector<float> values = {1, 0, 0, 2, 3, 3, 9, 0.1F, 0.1F, 5, 0.9F, 1, 0, 0};
  return Tensor::from({7, 2}, values);
}

TEST(PieceAnchors, OfASharedTableAreMutualNearestNeighbours) {
  EXPECT_EQ(piece_anchors(Row({"·a", "·b", "·c"}, 0), Row({"·d", "·e", "·f"}, 3), table()),
            (Alignment{{0, 0}, {1, 1}, {2, 2}}));
  // East is the nearest of north-east and of east; only one of them is its own nearest.
  const Row source({"·a"}, 0);
  const Row target({"·f", "·d"}, 3);
  EXPECT_EQ(piece_anchors(source, {target.positions, std::vector<int64_t>{5, 3}}, table()),
            (Alignment{{0, 1}}));
}

TEST(PieceAnchors, OfEqualNeighboursTheFirstCounts) {
  const std::vector<int64_t> same{0, 0};
  const Row source({"·a", "·b"}, 0), target({"·c", "·d"}, 0);
  EXPECT_EQ(piece_anchors({source.positions, same}, {target.positions, same}, table()),
            (Alignment{{0, 0}}));
}

TEST(PieceAnchors, BothKindsAreJoinedAndSpecialTokensHaveNoNeighbours) {
  // "·x" is the same on both sides, though its neighbours are others.
  const Row source({"·x", "·b", "</s>"}, 0), target({"</s>", "·e", "·x"}, 0);
  EXPECT_EQ(piece_anchors({source.positions, std::vector<int64_t>{6, 1, 0}},
                          {target.positions, std::vector<int64_t>{0, 4, 3}}, table()),
            (Alignment{{0, 2}, {1, 1}}));
}

TEST(PieceAnchors, AnIdBeyondTheTableIsRefused) {
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "7",
                         [] { piece_anchors(Row({"·a"}, 7), Row({"·b"}, 0), table()); }));
}

std::string path_of(std::string_view inner) {
  return (test_data(inner)).lexically_normal().string();
}

TEST(SharedWords, AreThereIfEncoderAndDecoderUseOneTable) {
  const auto words = [](const std::string& name) {
    return Engine::open(path_of("parity/" + name)).model().seq2seq()->shared_words();
  };
  for (const char* name : {"marian_mt", "bart_lm", "m2m_100_lm", "t5_lm", "mt5_lm"}) {
    SCOPED_TRACE(name);
    EXPECT_EQ(words(name).size(0),
              Engine::open(path_of(std::string("parity/") + name)).facts().text->vocabulary);
  }
  EXPECT_TRUE(words("marian_two_vocabularies").empty());
  EXPECT_TRUE(words("whisper_lm").empty());
}

TEST(Translation, HasTheAnchorsOfItsTokens) {
  const Translator translator(Engine::open(path_of("../../models/en-fr")));
  const Translation found =
      translator.translate("It was signed in Paris.", {.target = "Paris, il a signé."});
  const auto places = [&](std::string_view axis, std::string_view token) {
    const auto& positions = found.result.run.find_axis(axis)->positions;
    return std::ranges::find(positions, token, &Position::text) - positions.begin();
  };
  const Link paris{places("source", "·Par"), places("target", "·Par") - found.prefix};
  EXPECT_EQ(paris.target, 0);
  EXPECT_TRUE(std::ranges::binary_search(found.anchors, paris));
  const auto sources = static_cast<int64_t>(found.result.inputs.input_ids.size());
  const auto targets = static_cast<int64_t>(found.result.inputs.decoder_input_ids.size());
  for (const Link& anchor : found.anchors) {
    EXPECT_LT(anchor.source, sources - 1);  // the end of sentence is none
    EXPECT_LT(anchor.target, targets - found.prefix);
  }
}

}  // namespace
}  // namespace fovea
