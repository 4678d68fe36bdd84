#include "fovea/server/exact_pass.h"

#include <algorithm>
#include <chrono>

#include "fovea/base/error.h"
#include "fovea/base/log.h"
#include "fovea/base/team.h"
#include "fovea/base/watch.h"

namespace fovea {
namespace {

constexpr auto kQuietLook = std::chrono::milliseconds(2);
// However busy the server is, a map gets on by a tile in this time.
constexpr int kMostLooks = 100;

}  // namespace

ExactPass::ExactPass(std::function<bool()> is_busy)
    : is_busy_(std::move(is_busy)), thread_([this] { run(); }) {}

ExactPass::~ExactPass() {
  stop_.cancel();
  wake_.notify_all();
  thread_.join();
}

void ExactPass::want(const std::shared_ptr<const Pyramid>& pyramid, int first_level) {
  {
    const std::lock_guard lock(mutex_);
    if (!known_.insert(pyramid->id()).second) return;
    waiting_.push_back({pyramid, pyramid->id(), first_level, pyramid->levels()});
  }
  wake_.notify_one();
}

size_t ExactPass::size() const {
  const std::lock_guard lock(mutex_);
  return known_.size();
}

void ExactPass::run() {
  const WatchScope scope({.cancel = stop_});
  std::unique_lock lock(mutex_);
  for (;;) {
    while (waiting_.empty() && !stop_.cancelled()) {
      wake_.wait_for(lock, std::chrono::milliseconds(100));
    }
    if (stop_.cancelled()) return;
    const Wanted wanted = waiting_.front();
    waiting_.pop_front();
    lock.unlock();
    try {
      fill(wanted, wanted.levels - 1, 0, 0);
    } catch (const Error& error) {
      // Its tiles stay approximate, and who asks for one gets the error.
      log(LogLevel::kInfo, "a map was not computed whole: {}", error.what());
    }
    lock.lock();
    known_.erase(wanted.id);
  }
}

void ExactPass::wait_for_quiet() {
  for (int i = 0; i < kMostLooks && is_busy_(); ++i) {
    check_cancelled();
    std::this_thread::sleep_for(kQuietLook);
  }
}

// Children first, each whole before the next, so that what a tile is made of is still at hand. The
// run may be dropped meanwhile: nothing here keeps it.
void ExactPass::fill(const Wanted& wanted, int level, int64_t y, int64_t x) {
  int64_t rows = 0, cols = 0;  // of children
  {
    const std::shared_ptr<const Pyramid> pyramid = wanted.pyramid.lock();
    if (!pyramid || pyramid->find_tile(level, y, x) != nullptr) return;
    if (level > wanted.first_level) {
      rows = pyramid->tile_rows(level - 1);
      cols = pyramid->tile_cols(level - 1);
    }
  }
  for (int64_t child_y = 2 * y; child_y < std::min(2 * y + 2, rows); ++child_y) {
    for (int64_t child_x = 2 * x; child_x < std::min(2 * x + 2, cols); ++child_x) {
      fill(wanted, level - 1, child_y, child_x);
    }
  }
  wait_for_quiet();
  if (const auto pyramid = wanted.pyramid.lock()) {
    run_on_team([&] { static_cast<void>(pyramid->tile(level, y, x)); });
  }
}

}  // namespace fovea
