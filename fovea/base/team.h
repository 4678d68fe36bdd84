// The threads that compute. A process has one team of them, however many threads call: OpenMP alone
// would start a team for each caller (docs/adr/0017). One piece of work has the team at a time;
// work that begins inside it shares the team.
#pragma once

#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

namespace fovea {

class WatchScope;

// How many threads a loop that begins here may use: all of the team, but 1 inside such a loop and
// under SingleThread.
int thread_count();
// Sets the size of the team for every caller, from the next piece of work on; `count` >= 1.
void set_thread_count(int count);

// Whether this thread already runs for the team, so that its loops need not ask for it.
bool on_team();

enum class TeamTurn {
  kWait,    // waits for the work that came before
  kIfFree,  // now; if the team is busy, on the caller's thread alone
};
// Runs `work` where loops and matrix products use the team. Waits for it, and throws what it
// throws. Work that is cancelled while it waits for its turn does not begin.
void give_to_team(const std::function<void()>& work, TeamTurn turn);

// The same, and returns the result. A whole run of a model is one turn.
template <typename Work>
auto run_on_team(const Work& work, TeamTurn turn = TeamTurn::kWait) -> decltype(work()) {
  if (on_team()) return work();
  if constexpr (std::is_void_v<decltype(work())>) {
    give_to_team(work, turn);
  } else {
    std::optional<decltype(work())> result;
    give_to_team([&] { result.emplace(work()); }, turn);
    return *std::move(result);
  }
}
// For work that should not wait for a model to finish: a tile, a picture.
template <typename Work>
auto run_on_free_team(const Work& work) -> decltype(work()) {
  return run_on_team(work, TeamTurn::kIfFree);
}

// Calls `work` once in every thread of the team, with the caller's cancel scope. Only call it on
// the team. `work` must not throw.
void in_every_thread(const std::function<void()>& work);

// If `small`, loops and matrix products of the calling thread use one thread while this lives.
// Handing small work to several threads takes longer than doing it, above all when other programs
// are busy too.
class SingleThread {
 public:
  explicit SingleThread(bool small);
  ~SingleThread();
  SingleThread(const SingleThread&) = delete;
  SingleThread& operator=(const SingleThread&) = delete;

 private:
  bool changed_ = false;
  bool was_leader_ = false;
  int threads_before_ = 0;
};

}  // namespace fovea
