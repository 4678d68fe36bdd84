// An answer as files of numbers: which suffix holds what, and what is refused.
#include "fovea/ask/numbers_file.h"

#include <gtest/gtest.h>

#include "ask_test_support.h"
#include "fovea/base/file.h"
#include "fovea/io/npy.h"
#include "fovea/io/npz.h"
#include "support/errors.h"
#include "support/temp_folder.h"

namespace fovea {
namespace {

using support::captured_session;
using support::question_of;

TEST(NumbersFile, AMapIsTheSameArrayInEveryFile) {
  const TempFolder folder;
  const Answer answer = captured_session().ask(question_of("{'head': 2, 'exact': true}"));
  const Tensor array = array_in(answer);
  ASSERT_EQ(array.shape(), (Shape{7, 7}));
  write_numbers(folder / "a.npy", answer);
  write_numbers(folder / "a.npz", answer);
  write_numbers(folder / "a.json", answer);
  const Tensor alone = read_npy(folder / "a.npy");
  const Tensor packed = NpzFile::open(folder / "a.npz").tensor("weights");
  EXPECT_TRUE(std::ranges::equal(alone.values<float>(), array.values<float>()));
  EXPECT_TRUE(std::ranges::equal(packed.values<float>(), array.values<float>()));
  EXPECT_EQ(read_text_file(folder / "a.json", 1 << 20), whole(answer).dump(1) + "\n");
}

TEST(NumbersFile, AnExplanationIsAnArrayOfItsScores) {
  const TempFolder folder;
  const Answer answer =
      captured_session().ask(question_of("{'kind': 'explain', 'method': 'rollout'}"));
  EXPECT_EQ(array_in(answer).shape(), (Shape{7}));
  write_numbers(folder / "a.csv", answer);
  EXPECT_TRUE(read_text_file(folder / "a.csv", 1 << 20)
                  .starts_with("axis,index,position,score\ntokens,0,[CLS],"));
}

TEST(NumbersFile, WhatDoesNotFitAFileIsRefusedAndNothingIsWritten) {
  const TempFolder folder;
  const Session session = captured_session();
  const Answer steps = session.ask(question_of("{'kind': 'steps'}"));
  write_numbers(folder / "steps.npz", steps);
  EXPECT_TRUE(NpzFile::open(folder / "steps.npz").contains("weights"));
  EXPECT_TRUE(fails_with(ErrorKind::kUnsupported, "write them as .npz",
                         [&] { write_numbers(folder / "steps.npy", steps); }));
  const Answer table = session.ask(question_of("{'kind': 'differ', 'token': 'chasing'}"));
  write_numbers(folder / "table.csv", table);
  EXPECT_TRUE(fails_with(ErrorKind::kUnsupported, "no maps in a table",
                         [&] { write_numbers(folder / "table.npy", table); }));
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "a.gif",
                         [&] { write_numbers(folder / "a.gif", session.ask({})); }));
  EXPECT_FALSE(file_exists(folder / "steps.npy") || file_exists(folder / "table.npy"));
}

}  // namespace
}  // namespace fovea
