#include "fovea/text/sentence_piece.h"

#include <gmock/gmock.h>

#include <cstring>
#include <thread>

#include "fovea/base/file.h"
#include "fovea/text/languages.h"
#include "fovea/text/sentence_piece_file.h"
#include "fovea/text/sentence_piece_folders.h"
#include "fovea/text/tokenizer.h"
#include "support/data.h"
#include "support/errors.h"

namespace fovea {
namespace {

using testing::ElementsAre;

const std::filesystem::path kPieceData = test_data("sentence_piece");

std::string varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7U) bytes += static_cast<char>(value | 0x80U);
  return bytes + static_cast<char>(value);
}

std::string number(uint64_t field, uint64_t value) {
  return varint(field << 3U) + varint(value);
}

std::string message(uint64_t field, std::string_view bytes) {
  return varint(field << 3U | 2U) + varint(bytes.size()) + std::string(bytes);
}

std::string piece(std::string_view text, PieceType type = PieceType::kNormal, float score = -1) {
  std::string bits(4, '\0');
  std::memcpy(bits.data(), &score, 4);
  return message(
      1, message(1, text) + varint(2 << 3 | 5) + bits + number(3, static_cast<uint64_t>(type)));
}

const std::string kUnknown = piece("<unk>", PieceType::kUnknown);
const std::string kNormalizer = message(3, message(1, "identity"));

// A character map of one block: from the root, 'a' becomes what lies at `value`.
std::string character_map(uint32_t value, uint32_t base_of_a, std::string_view texts) {
  std::vector<uint32_t> units(256, 0);
  for (uint32_t i = 1; i < units.size(); ++i) units[i] = i ^ 0xFF;  // hang on no base that is used
  units[0] = 1U << 10U;                                             // base 1
  const uint32_t at = 1 ^ 'a';
  units[at] = (at ^ base_of_a) << 10U | 0x100U | 'a';
  if (base_of_a < units.size()) units[base_of_a] = value | 0x80000000U;
  std::string bytes(4 + units.size() * 4, '\0');
  const auto size = static_cast<uint32_t>(units.size() * 4);
  std::memcpy(bytes.data(), &size, 4);
  std::memcpy(bytes.data() + 4, units.data(), size);
  return bytes + std::string(texts);
}

std::string with_map(std::string_view map) {
  return kUnknown + piece("b") + piece("▁") + message(3, message(2, map));
}

std::vector<std::string> pieces_of(const SentencePiece& model, std::string_view text) {
  std::vector<std::string> found;
  model.encode(text, [&](const SentencePiece::Piece& each) { found.emplace_back(each.text); });
  return found;
}

TEST(SentencePiece, GivesBytesOfTheTextWhereverCharactersWereReplaced) {
  const auto model = SentencePiece::open(kPieceData / "models" / "bpe_bytes.model");
  const std::string text = "the  ﬁne☃";
  std::vector<std::string> slices;
  std::vector<bool> begins;
  model->encode(text, [&](const SentencePiece::Piece& each) {
    slices.push_back(text.substr(each.span.begin, each.span.end - each.span.begin));
    begins.push_back(each.begins_word);
  });
  ASSERT_GE(slices.size(), 5U);
  EXPECT_EQ(slices[0], "the");
  EXPECT_TRUE(begins[0]);
  // Three bytes of the snowman, each with all of it.
  for (size_t i = slices.size() - 3; i < slices.size(); ++i) EXPECT_EQ(slices[i], "☃");
  EXPECT_EQ(pieces_of(*model, "☃").back(), "<0x83>");
}

TEST(SentencePiece, MayBeUsedFromManyThreads) {
  const auto model = SentencePiece::open(kPieceData / "marian" / "source.spm");
  const std::string text = "The FBI is chasing a criminal on the run, isn't it?";
  const auto expected = pieces_of(*model, text);
  std::vector<std::thread> threads;
  std::vector<int> wrong(4, 0);
  for (size_t i = 0; i < wrong.size(); ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 200; ++round) {
        const auto found = pieces_of(*model, text);
        wrong[i] += found == expected && model->decode(found) == text ? 0 : 1;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(wrong, testing::Each(0));
}

TEST(SentencePiece, TakesLongTextsAndRefusesTooLongOnes) {
  const auto model = SentencePiece::open(kPieceData / "marian" / "source.spm");
  std::string text;
  while (text.size() < 1'000'000) text += "The criminal is on the run. ";
  size_t count = 0;
  uint32_t end = 0;
  model->encode(text, [&](const SentencePiece::Piece& each) {
    ++count;
    end = each.span.end;
  });
  EXPECT_GT(count, 100'000U);
  EXPECT_EQ(end, text.size() - 1);
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "67108864", [&] {
    model->encode(std::string((size_t{1} << 26) + 1, 'x'), [](const auto&) {});
  }));
}

TEST(SentencePieceFile, IsRefusedWhereverItIsCutShort) {
  const std::string bytes = read_text_file(kPieceData / "models" / "bpe_bytes.model");
  ASSERT_NO_THROW(SentencePiece::from_bytes(bytes, "m"));
  for (size_t size = 0; size < bytes.size(); size += size < 200 ? 1 : 97) {
    // What ends between two fields is a model with fewer of them, which may load.
    try {
      pieces_of(*SentencePiece::from_bytes(bytes.substr(0, size), "m"), "the cat");
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kBadFile) << size;
      EXPECT_EQ(std::string_view(error.what()).find('\n'), std::string_view::npos);
    }
  }
  EXPECT_TRUE(
      fails_with(ErrorKind::kBadFile, "0 pieces", [] { SentencePiece::from_bytes("", "m"); }));
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "not a SentencePiece model",
                         [] { SentencePiece::from_bytes("{\"a\": 1}", "m"); }));
}

TEST(SentencePieceFile, NeedsOneUnknownPieceAndSoundOnesBesides) {
  const auto refuses = [](std::string_view part, const std::string& bytes) {
    return fails_with(ErrorKind::kBadFile, part,
                      [&] { SentencePiece::from_bytes(bytes + kNormalizer, "m"); });
  };
  EXPECT_NO_THROW(SentencePiece::from_bytes(kUnknown + piece("a") + kNormalizer, "m"));
  EXPECT_TRUE(refuses("0 stand for unknown", piece("a") + piece("b")));
  EXPECT_TRUE(refuses("2 stand for unknown", kUnknown + piece("u", PieceType::kUnknown)));
  EXPECT_TRUE(refuses("UTF-8", kUnknown + piece("\xFF")));
  EXPECT_TRUE(refuses("UTF-8", kUnknown + piece(std::string_view("a\0b", 3))));
  EXPECT_TRUE(refuses("UTF-8", kUnknown + piece("")));
  EXPECT_TRUE(refuses("UTF-8", kUnknown + piece(std::string(5000, 'a'))));
  EXPECT_TRUE(refuses("no number", kUnknown + piece("a", PieceType::kNormal, NAN)));
  EXPECT_TRUE(refuses("type 9", kUnknown + piece("a", static_cast<PieceType>(9))));
  EXPECT_TRUE(refuses("already defined", kUnknown + piece("a") + piece("a")));
  EXPECT_TRUE(refuses("names", kUnknown + piece("a") + message(2, message(44, "\xFF"))));
}

TEST(SentencePieceFile, IsRefusedIfItsCharacterMapLeadsAstray) {
  const auto refuses = [](std::string_view part, std::string_view map) {
    return fails_with(ErrorKind::kBadFile, part,
                      [&] { SentencePiece::from_bytes(with_map(map), "m"); });
  };
  const std::string_view texts("b\0", 2);
  const auto good = SentencePiece::from_bytes(with_map(character_map(0, 16, texts)), "m");
  EXPECT_THAT(pieces_of(*good, "a"), ElementsAre("▁", "b"));
  EXPECT_TRUE(refuses("cut short", "abc"));
  EXPECT_TRUE(refuses("cut short", character_map(0, 16, "")));
  EXPECT_TRUE(refuses("broken text", character_map(0, 16, "b")));
  EXPECT_TRUE(refuses("broken text", character_map(0, 16, std::string_view("\xFF\0", 2))));
  EXPECT_TRUE(refuses("beyond its texts", character_map(9, 16, texts)));
  EXPECT_TRUE(refuses("out of its table", character_map(0, 4096, texts)));
  // "a" leads back to the root, so that "aaaa…" has a rule of every length.
  std::string circle = character_map(0, 1, texts);
  EXPECT_TRUE(refuses("circles", circle));
  const uint32_t far_root = 0xFFFFFC00U;
  std::memcpy(circle.data() + 4, &far_root, 4);
  EXPECT_TRUE(refuses("out of its table", circle));
}

TEST(SentencePieceFile, MayHaveManyPiecesThatBeginWithOneAnother) {
  const auto nested = [](PieceType type, size_t count) {
    std::string bytes = kUnknown + piece("▁");
    for (size_t size = 1; size <= count; ++size) bytes += piece(std::string(size, 'a'), type);
    return bytes + kNormalizer;
  };
  const auto normal = SentencePiece::from_bytes(nested(PieceType::kNormal, 1500), "m");
  EXPECT_GE(pieces_of(*normal, std::string(1400, 'a')).size(), 1U);
  const auto defined = SentencePiece::from_bytes(nested(PieceType::kUserDefined, 64), "m");
  EXPECT_THAT(pieces_of(*defined, std::string(64, 'a')), ElementsAre("▁", std::string(64, 'a')));
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "65", [&] {
    SentencePiece::from_bytes(nested(PieceType::kUserDefined, 65), "m");
  }));
}

TEST(SentencePieceFile, IsNotAskedToTestItself) {
  const std::string sample = message(1, message(1, "a") + message(2, "never this"));
  EXPECT_NO_THROW(
      SentencePiece::from_bytes(kUnknown + piece("a") + kNormalizer + message(4, sample), "m"));
}

TEST(SentencePieceFile, ThatWasCutBetweenTwoPiecesIsNoticed) {
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "2 pieces but does not say how text is normalised",
                         [] { SentencePiece::from_bytes(kUnknown + piece("a"), "m"); }));
}

}  // namespace
}  // namespace fovea
