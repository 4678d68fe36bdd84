#include "fovea/checkpoint/pickle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "support/errors.h"

namespace fovea {
namespace {

constexpr std::array<std::string_view, 1> kAllowed{"torch.Size"};

Pickle parse_pickle(std::string_view text) {
  return Pickle::parse(as_bytes(text), "test", kAllowed);
}

testing::AssertionResult pickle_refuses(ErrorKind kind, std::string_view part,
                                        std::string_view text) {
  return fails_with(kind, part, [&] { parse_pickle(text); });
}

// The bytes of a literal with its zeros.
template <size_t N>
std::string bytes(const char (&text)[N]) {
  return std::string(text, N - 1);
}

TEST(Pickle, ReadsScalars) {
  // (None, True, False, 200, 60000, -2, 0.5, -2**40, 2**70, 'hé', b'raw')
  const std::string text =
      bytes("\x80\x02(N\x88\x89K\xc8M\x60\xeaJ\xfe\xff\xff\xffG?\xe0\0\0\0\0\0\0") +
      bytes("\x8a\x06\0\0\0\0\0\xff\x8a\x09\0\0\0\0\0\0\0\0\x40") +
      bytes(
          "X\x03\0\0\0h\xc3\xa9"
          "C\x03rawt.");
  const Pickle pickle = parse_pickle(text);
  const auto& items = pickle.root().items;
  ASSERT_EQ(pickle.root().kind, PickleKind::kTuple);
  ASSERT_EQ(items.size(), 11U);
  EXPECT_EQ(items[0]->kind, PickleKind::kNone);
  EXPECT_EQ(items[1]->number, 1);
  EXPECT_EQ(items[2]->number, 0);
  EXPECT_EQ(items[3]->number, 200);
  EXPECT_EQ(items[4]->number, 60000);
  EXPECT_EQ(items[5]->number, -2);
  EXPECT_EQ(items[6]->real, 0.5);
  EXPECT_EQ(items[7]->number, -(int64_t{1} << 40));
  EXPECT_EQ(items[8]->kind, PickleKind::kBigInt);
  EXPECT_EQ(items[9]->text, "h\xc3\xa9");
  EXPECT_EQ(items[10]->kind, PickleKind::kBytes);
  EXPECT_EQ(pickle.size(), text.size());
}

TEST(Pickle, CallsAreKeptAsDataAndNotMade) {
  const Pickle pickle = parse_pickle(
      "\x80\x02"
      "ctorch\nSize\nK\x02K\x03\x86\x85R.");
  ASSERT_EQ(pickle.root().kind, PickleKind::kCall);
  EXPECT_EQ(pickle.root().items[0]->text, "torch.Size");
  EXPECT_EQ(pickle.root().items[1]->items[0]->items[1]->number, 3);
}

TEST(Pickle, AnObjectMayHoldItself) {
  const Pickle pickle = parse_pickle(
      "]q\x01h\x01"
      "a.");
  EXPECT_EQ(pickle.root().items[0], &pickle.root());
}

TEST(Pickle, FunctionsThatDoThingsAreRefusedByName) {
  constexpr auto kKind = ErrorKind::kUnsupported;
  EXPECT_TRUE(pickle_refuses(kKind, "'os.system'", "cos\nsystem\nX\x02\0\0\0id\x85R."));
  EXPECT_TRUE(pickle_refuses(kKind, "'posix.system'", "cposix\nsystem\n."));
  EXPECT_TRUE(pickle_refuses(kKind, "'builtins.eval'", "cbuiltins\neval\n."));
  EXPECT_TRUE(pickle_refuses(kKind, "'builtins.getattr'", "cbuiltins\ngetattr\n."));
  EXPECT_TRUE(pickle_refuses(kKind, "'torch.load'", "ctorch\nload\n."));
  EXPECT_TRUE(pickle_refuses(kKind, "'posix.system'", "\x80\x04\x8c\x05posix\x8c\x06system\x93."));
  EXPECT_TRUE(pickle_refuses(kKind, "'builtins.exec'",
                             "\x80\x04\x8c\x08"
                             "builtins\x8c\x04"
                             "exec\x94\x93)R."));
  // Spelling that only looks allowed: attributes by dots, and names out of both halves.
  EXPECT_TRUE(pickle_refuses(kKind, "'torch.Size.x'", "ctorch\nSize.x\n."));
  EXPECT_TRUE(pickle_refuses(kKind, "'torch.Sizex'", "ctorch\nSizex\n."));
}

TEST(Pickle, OpcodesThatTorchDoesNotWriteAreRefusedByName) {
  constexpr auto kKind = ErrorKind::kUnsupported;
  EXPECT_TRUE(pickle_refuses(kKind, "opcode INST", "(ios\nsystem\n."));
  EXPECT_TRUE(pickle_refuses(kKind, "opcode OBJ", "(o."));
  EXPECT_TRUE(pickle_refuses(kKind, "opcode EXT1", "\x82\x01."));
  EXPECT_TRUE(pickle_refuses(kKind, "opcode NEWOBJ_EX", "\x92."));
  EXPECT_TRUE(pickle_refuses(kKind, "opcode PERSID", "Pid\n."));
  EXPECT_TRUE(pickle_refuses(kKind, "opcode INT", "I1\n."));
  EXPECT_TRUE(pickle_refuses(kKind, "protocol 6", "\x80\x06."));
  EXPECT_TRUE(pickle_refuses(ErrorKind::kBadFile, "0xff is not a pickle opcode", "\xff."));
}

TEST(Pickle, DamageIsOneClearError) {
  constexpr auto kKind = ErrorKind::kBadFile;
  EXPECT_TRUE(pickle_refuses(kKind, "ends in the middle", ""));
  EXPECT_TRUE(pickle_refuses(kKind, "not there", "."));
  EXPECT_TRUE(pickle_refuses(kKind, "not there", "]a."));
  EXPECT_TRUE(pickle_refuses(kKind, "not there", "](a."));  // nothing above the mark
  EXPECT_TRUE(pickle_refuses(kKind, "mark is missing", "t."));
  EXPECT_TRUE(pickle_refuses(kKind, "calls an int", "K\x01)R."));
  EXPECT_TRUE(pickle_refuses(kKind, "arguments of torch.Size", "ctorch\nSize\nK\x01R."));
  EXPECT_TRUE(pickle_refuses(kKind, "never remembered", "h\x05."));
  EXPECT_TRUE(pickle_refuses(kKind, "adds items to a dict",
                             "}K\x01"
                             "a."));
  EXPECT_TRUE(pickle_refuses(kKind, "sets members of a list", "]K\x01K\x02s."));
  EXPECT_TRUE(pickle_refuses(kKind, "without a value", "}(K\x01u."));
  EXPECT_TRUE(pickle_refuses(kKind, "4294967295 bytes", "X\xff\xff\xff\xff."));
  EXPECT_TRUE(
      pickle_refuses(kKind, "18446744073709551615 bytes", "\x8d\xff\xff\xff\xff\xff\xff\xff\xff."));
  EXPECT_TRUE(pickle_refuses(kKind, "in the middle of a line", "cos"));
}

TEST(Pickle, EndlessOnesEnd) {
  constexpr auto kKind = ErrorKind::kBadFile;
  EXPECT_TRUE(pickle_refuses(kKind, "nests deeper than 1000", std::string(5000, '(')));
  EXPECT_TRUE(pickle_refuses(kKind, "more than 4194304 objects", std::string(5'000'000, ')')));
  // One list, put into itself again and again by ever larger doses.
  std::string doses = "h\x01h\x01";
  while (doses.size() < 20'000'000) doses += doses;
  const std::string laughs = "]q\x01" + doses;
  EXPECT_TRUE(pickle_refuses(kKind, "hold more than", "(" + laughs + laughs + "t."));
  // Deep without a mark: read step by step, so no stack is used up.
  EXPECT_NO_THROW(parse_pickle(")" + std::string(1'000'000, '\x85') + "."));
  std::string memo = "N";
  for (uint32_t i = 0; i < 100'000; ++i) {
    memo += 'r';
    for (int shift = 0; shift < 32; shift += 8) {
      memo += static_cast<char>((i * 40'009U) >> shift & 0xff);
    }
  }
  EXPECT_NO_THROW(parse_pickle(memo + "."));
}

TEST(Pickle, PythonsOwnContainersAreMade) {
  const Pickle pairs = parse_pickle(
      "ccollections\nOrderedDict\n](K\x01K\x02\x86"
      "e\x85R.");
  ASSERT_EQ(pairs.root().kind, PickleKind::kDict);
  EXPECT_EQ(pairs.root().items.size(), 2U);
  const Pickle dict = parse_pickle("ccollections\nOrderedDict\n)RK\x01K\x02s.");
  ASSERT_EQ(dict.root().items.size(), 2U);
  EXPECT_EQ(dict.root().items[1]->number, 2);
  const Pickle set = parse_pickle(
      "c__builtin__\nset\n](K\x01K\x02"
      "e\x85R.");
  EXPECT_EQ(set.root().items.size(), 2U);
  const Pickle space = parse_pickle("cargparse\nNamespace\n)\x81}K\x01K\x02sb.");
  EXPECT_EQ(space.root().kind, PickleKind::kDict);
  EXPECT_EQ(space.root().items.size(), 2U);
}

}  // namespace
}  // namespace fovea
