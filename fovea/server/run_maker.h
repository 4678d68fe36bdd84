// Makes runs for requests. Equal ones share the work and its progress, which ends when all of them
// have gone.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "fovea/ask/session.h"
#include "fovea/server/http_server.h"
#include "fovea/server/run_shelf.h"

namespace fovea {

class RunMaker {
 public:
  RunMaker();
  RunMaker(const RunMaker&) = delete;
  RunMaker& operator=(const RunMaker&) = delete;
  ~RunMaker();

  // A word that the model has written.
  using OnWord = std::function<void(std::string_view)>;
  // Opens the session of a run, whose words `on_word` hears.
  using OpenSession = std::function<Session(OnWord on_word)>;

  // Answers the exchange with the run's progress, a line of JSON each, and at last its hash or an
  // error. Runs it on this thread, unless somebody else does already. Throws what `open` throws.
  void make(const std::string& hash, const OpenSession& open,
            const std::shared_ptr<Exchange>& exchange, RunShelf& shelf);
  size_t size() const;

 private:
  struct Making;
  void run(const std::shared_ptr<Making>& making, Session session, RunShelf& shelf);
  void watch_listeners();

  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Making>> under_way_;
  std::atomic<bool> ends_ = false;
  std::thread watcher_;
};

}  // namespace fovea
