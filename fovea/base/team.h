// The threads that compute. A process has one team of them, whoever calls and from however many
// threads: OpenMP would otherwise give a team to each (docs/adr/0017). One piece of work has the
// team at a time; what is begun within it shares it.
#pragma once

#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

namespace fovea {

class WatchScope;

// How many threads a loop that begins here may use: those of the team; 1 in its loops and under
// SingleThread.
int thread_count();
// Of the team, for every caller, from the next piece of work on; `count` >= 1.
void set_thread_count(int count);

// Whether the loops of this thread use the team without asking for it.
bool on_team();

enum class TeamTurn {
  kWait,    // after the work that others have given it
  kIfFree,  // now; where somebody computes, on the caller's thread alone
};
// Runs `work` where loops and matrix products use the team, waits for it and throws what it throws.
// Work that is cancelled while it waits does not begin.
void give_to_team(const std::function<void()>& work, TeamTurn turn);

// The same with a result. A model's run takes its turn whole.
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
// For what should not wait for a model: a tile, a picture.
template <typename Work>
auto run_on_free_team(const Work& work) -> decltype(work()) {
  return run_on_team(work, TeamTurn::kIfFree);
}

// Calls `work` once in every thread of the team, with the caller's cancel scope; only on the team.
// `work` must not throw.
void in_every_thread(const std::function<void()>& work);

// While it lives, loops and matrix products of the calling thread use one thread, if `small`:
// handing small work to several takes longer than doing it, above all beside other programs.
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
