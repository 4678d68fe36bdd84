#include "fovea/server/run_maker.h"

#include <algorithm>
#include <chrono>

#include "fovea/base/error.h"
#include "fovea/base/watch.h"

namespace fovea {
namespace {

using MakerClock = std::chrono::steady_clock;

constexpr auto kListenerLook = std::chrono::milliseconds(5);
constexpr auto kBetweenReports = std::chrono::milliseconds(100);

std::string json_line(const Json& json) {
  return json.dump() + "\n";
}

std::string stage_line(const Stage& stage) {
  Json json = Json::object({{"stage", stage.title}, {"done", stage.done}, {"total", stage.total}});
  if (stage.unit == ProgressUnit::kBytes) json.set("unit", "bytes");
  return json_line(json);
}

WebResponse stream_head() {
  return {.type = "application/x-ndjson"};
}

}  // namespace

struct RunMaker::Making {
  std::string hash;
  CancelToken cancel;
  std::mutex mutex;
  std::vector<std::shared_ptr<Exchange>> listeners;
  std::string last_stage;  // who comes later begins with it
  std::string last_title;
  MakerClock::time_point reported;

  void tell(const std::string& line) {
    const std::lock_guard lock(mutex);
    for (const auto& listener : listeners) listener->send(line);
  }
  void report(const Stage& stage) {
    const std::lock_guard lock(mutex);
    const auto now = MakerClock::now();
    const bool is_new = stage.title != last_title;
    if (!is_new && !stage.ended && now - reported < kBetweenReports) return;
    reported = now;
    last_title = stage.title;
    last_stage = stage_line(stage);
    for (const auto& listener : listeners) listener->send(last_stage);
  }
  bool has_listener() {
    const std::lock_guard lock(mutex);
    return std::ranges::any_of(
        listeners, [](const auto& listener) { return !listener->cancel().cancelled(); });
  }
  void join(const std::shared_ptr<Exchange>& exchange) {
    const std::lock_guard lock(mutex);
    exchange->begin(stream_head());
    if (!last_stage.empty()) exchange->send(last_stage);
    listeners.push_back(exchange);
  }
  void finish(const std::string& line) {
    const std::lock_guard lock(mutex);
    for (const auto& listener : listeners) {
      listener->send(line);
      listener->end();
    }
    listeners.clear();
  }
};

RunMaker::RunMaker() : watcher_([this] { watch_listeners(); }) {}

RunMaker::~RunMaker() {
  ends_ = true;
  watcher_.join();
}

void RunMaker::watch_listeners() {
  while (!ends_) {
    std::this_thread::sleep_for(kListenerLook);
    const std::lock_guard lock(mutex_);
    for (const auto& [hash, making] : under_way_) {
      if (!making->has_listener()) making->cancel.cancel();
    }
  }
}

size_t RunMaker::size() const {
  const std::lock_guard lock(mutex_);
  return under_way_.size();
}

void RunMaker::make(const std::string& hash, const OpenSession& open,
                    const std::shared_ptr<Exchange>& exchange, RunShelf& shelf) {
  const std::string found = json_line(Json::object({{"run", hash}}));
  if (shelf.find(hash)) {
    exchange->begin(stream_head());
    exchange->send(found);
    return exchange->end();
  }
  const auto making = std::make_shared<Making>();
  making->hash = hash;
  const std::weak_ptr<Making> words = making;
  Session session = open([words](std::string_view word) {
    if (const auto heard = words.lock()) heard->tell(json_line(Json::object({{"written", word}})));
  });
  {
    const std::lock_guard lock(mutex_);
    const auto other = under_way_.find(hash);
    // One that everybody has left ends soon; this request does not.
    if (other != under_way_.end() && !other->second->cancel.cancelled()) {
      return other->second->join(exchange);
    }
    making->join(exchange);
    under_way_[hash] = making;
  }
  run(making, std::move(session), shelf);
}

void RunMaker::run(const std::shared_ptr<Making>& making, Session session, RunShelf& shelf) {
  std::string last;
  const std::vector<FileStamp> stamps = stamps_of(session.opened()->engine);
  try {
    const WatchScope scope(
        {.cancel = making->cancel, .progress = [&](const Stage& stage) { making->report(stage); }});
    session.run();
    // After the run: what was written to it meanwhile was perhaps read.
    check_untouched(stamps);
    shelf.add(std::make_shared<OpenRun>(making->hash, session, /*captured=*/false, "", stamps));
    last = json_line(Json::object({{"run", making->hash}}));
  } catch (const Error& error) {
    last = json_line(error_json(error));
  } catch (const std::bad_alloc&) {
    last = json_line(error_json(Error(ErrorKind::kOutOfMemory,
                                      "there is not enough memory for this input; give a shorter "
                                      "one")));
  }
  {
    const std::lock_guard lock(mutex_);
    const auto mine = under_way_.find(making->hash);
    if (mine != under_way_.end() && mine->second == making) under_way_.erase(mine);
  }
  making->finish(last);
}

}  // namespace fovea
