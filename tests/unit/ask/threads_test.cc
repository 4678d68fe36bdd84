// Many who ask at once, and many who change their minds.
#include <gtest/gtest.h>
#include <malloc.h>

#include <atomic>
#include <filesystem>
#include <thread>
#include <vector>

#include "ask_test_support.h"
#include "fovea/base/team.h"
#include "support/errors.h"
#include "support/sanitized.h"

namespace fovea {
namespace {

using support::fixture_session;
using support::question_of;

const std::vector<std::string>& asked_questions() {
  static const std::vector<std::string> questions{"{'head': 0}", "{'token': 1, 'head': 1}",
                                                  "{'layer': 0}", "{'kind': 'lines', 'token': 0}"};
  return questions;
}

// The last numbers may differ: kernels sum in another order with another number of threads.
bool agree(const Answer& one, const Answer& other) {
  const MapData a = numbers_of(one), b = numbers_of(other);
  return std::ranges::equal(a.weights.values<float>(), b.weights.values<float>(),
                            [](float x, float y) {
                              return std::abs(x - y) <= 1e-5F || (std::isnan(x) && std::isnan(y));
                            });
}

TEST(AskedAtOnce, EightThreadsAskTwoSessionsOfTwoModels) {
  const std::vector<const char*> models{"bert_masked_lm", "llama_gqa"};
  std::vector<std::vector<Answer>> expected;
  for (const char* model : models) {
    const Session session = fixture_session(model);
    expected.emplace_back();
    for (const std::string& text : asked_questions()) {
      expected.back().push_back(session.ask(question_of(text)));
    }
  }
  // New ones, so that all wait for the first run.
  const std::vector<Session> sessions{fixture_session(models[0]), fixture_session(models[1])};
  std::atomic<int> answered = 0;
  std::vector<std::thread> callers;
  for (size_t caller = 0; caller < 8; ++caller) {
    callers.emplace_back([&, which = caller % 2] {
      for (size_t i = 0; i < asked_questions().size(); ++i) {
        const Answer answer = sessions[which].ask(question_of(asked_questions()[i]));
        EXPECT_TRUE(agree(answer, expected[which][i])) << asked_questions()[i];
        EXPECT_EQ(support::fact(answer, "site"), "\"self\"");
        ++answered;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(answered, 32);
}

size_t threads_of_process() {
  size_t count = 0;
  for ([[maybe_unused]] const auto& each : std::filesystem::directory_iterator("/proc/self/task")) {
    ++count;
  }
  return count;
}

TEST(AskedAtOnce, CancelledQuestionsLeaveNoThreadAndNoMemoryBehind) {
  const Session session = fixture_session("bert_masked_lm");
  session.ask({});
  const auto ask_cancelled = [&](const Session& whom, const Question& question) {
    const CancelToken cancel;
    cancel.cancel();
    return fails_with(ErrorKind::kCancelled, "", [&] { whom.ask(question, {.cancel = cancel}); });
  };
  const auto cancel_running = [&](const Session& whom) {
    const CancelToken cancel;
    const auto stop = [&](const Stage&) { cancel.cancel(); };
    return fails_with(ErrorKind::kCancelled, "",
                      [&] { whom.ask({}, {.cancel = cancel, .progress = stop}); });
  };
  cancel_running(fixture_session("bert_masked_lm"));  // whatever is made once is made
  const size_t threads = threads_of_process();
  const size_t in_use = mallinfo2().uordblks;
  for (int turn = 0; turn < 100; ++turn) {
    // One in the middle of its run, and one whose run is there.
    EXPECT_TRUE(cancel_running(fixture_session("bert_masked_lm")));
    EXPECT_TRUE(ask_cancelled(session, question_of("{'layer': 'all'}")));
  }
  EXPECT_EQ(threads_of_process(), threads);
  if (!support::kSanitized) {
    // A run of this model keeps more than 100 kB; a hundred of them would show.
    EXPECT_LT(mallinfo2().uordblks, in_use + 200'000);
  }
  EXPECT_NO_THROW(session.ask(question_of("{'layer': 'all'}"))) << "the session goes on";
}

TEST(AskedAtOnce, ARunThatIsCancelledIsTakenOverByThoseWhoWait) {
  const Session session = fixture_session("bert_masked_lm");
  const CancelToken cancel;
  std::atomic<bool> begun = false;
  // The first is cancelled in the middle of its run.
  std::thread first([&] {
    const auto stop = [&](const Stage&) {
      begun = true;
      cancel.cancel();
    };
    EXPECT_TRUE(fails_with(ErrorKind::kCancelled, "",
                           [&] { session.ask({}, {.cancel = cancel, .progress = stop}); }));
    begun = true;
  });
  std::vector<std::thread> others;
  std::atomic<int> answered = 0;
  for (int i = 0; i < 4; ++i) {
    others.emplace_back([&] {
      while (!begun) std::this_thread::yield();
      session.ask({});
      ++answered;
    });
  }
  first.join();
  for (std::thread& other : others) other.join();
  EXPECT_EQ(answered, 4);
}

TEST(AskedAtOnce, WorkThatHasTheTeamMayAskWhatAnotherThreadAsks) {
  const Session session = fixture_session("bert_masked_lm");
  std::atomic<bool> asked = false;
  std::thread other;
  run_on_team([&] {
    other = std::thread([&] {
      asked = true;
      session.ask({});
    });
    while (!asked) std::this_thread::yield();
    EXPECT_NO_THROW(session.ask({}));
  });
  other.join();
}

TEST(AskedAtOnce, TwoWhoNeedDifferentThingsBothGetThem) {
  const Session session = fixture_session("bert_masked_lm");
  std::thread blocks([&] { EXPECT_TRUE(session.run({.blocks = true})->has.blocks); });
  std::thread logits([&] { EXPECT_TRUE(session.run({.all_logits = true})->has.all_logits); });
  blocks.join();
  logits.join();
  EXPECT_TRUE(session.run()->has.blocks && session.run()->has.all_logits) << "nothing is lost";
}

TEST(AskedAtOnce, WhoIsCancelledWhileAnotherRunsTheModelStopsWaiting) {
  const Session session = fixture_session("bert_masked_lm");
  std::atomic<int> finished = 0, cancelled = 0;
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 6; ++caller) {
    callers.emplace_back([&, caller] {
      const CancelToken cancel;
      if (caller % 2 == 0) cancel.cancel();
      try {
        session.ask({}, {.cancel = cancel});
        ++finished;
      } catch (const Error& error) {
        if (error.kind() == ErrorKind::kCancelled) ++cancelled;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(finished, 3);
  EXPECT_EQ(cancelled, 3);
}

}  // namespace
}  // namespace fovea
