// The server of `docs/page.md`: guards, routes and the threads that answer.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fovea/ask/session.h"

namespace fovea {

struct ServedModel {
  std::string name;   // what requests call it
  std::string place;  // what Engine::open() opens
};
struct ServedRun {
  std::string name;  // for lists
  std::string hash;  // of its file
  Session session;
  std::string path = {};
};

struct ServeOptions {
  std::string host = "127.0.0.1";
  std::optional<uint16_t> port;  // none: kUsualPort, or the next that is free
  // Asked of every request below /v1; empty: none. An address that others can reach always has one:
  // where it is empty, one is made up.
  std::string token;
  std::optional<uint64_t> memory;  // bytes for runs, uploads and tiles; none: half of what is free
  size_t most_connections = 1000;
  std::vector<ServedModel> models;
  std::vector<ServedRun> runs;
};

inline constexpr uint16_t kUsualPort = 8756;

// A captured run or arrays of weights, under a hash that is the same whenever the file is. Throws
// what opening them throws.
ServedRun served_run(const std::string& path);

class PageServer {
 public:
  // Listens. Throws Error{kBusy} about the field "port" if it is taken.
  explicit PageServer(ServeOptions options);
  PageServer(const PageServer&) = delete;
  PageServer& operator=(const PageServer&) = delete;
  ~PageServer();

  // Where a browser finds it, with the token if there is one.
  std::string url() const;
  // Serves until `stop` says so, on this thread and its own.
  void serve(const std::function<bool()>& stop);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace fovea
