// One client's connection: what has come and not been read, what must go and has not gone.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "fovea/base/cancel.h"
#include "fovea/server/http_request.h"
#include "fovea/server/http_response.h"

namespace fovea {

using ServerClock = std::chrono::steady_clock;

struct Connection {
  enum class State {
    kIdle,       // between requests
    kHead,       // some of a head has come
    kBody,       // the head is read
    kWorking,    // somebody computes the answer
    kStreaming,  // the answer comes in pieces
    kWriting,    // the answer is whole and goes out
    kLingering,  // everything is written; what still comes is thrown away
  };

  Connection(int descriptor, uint64_t number, bool here)
      : socket(descriptor), id(number), from_here(here) {}
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  void enter(State next);
  // The whole answer. With `last` the connection ends after it.
  void put(const WebResponse& response, bool last);
  void put_text(std::string text);
  bool has_output() const { return !output.empty(); }
  // Sends as much as goes without waiting. False: the client is gone.
  bool flush();
  // What epoll is to look for now.
  uint32_t events() const;

  int socket;
  uint64_t id;
  bool from_here;
  State state = State::kIdle;
  ServerClock::time_point since = ServerClock::now();  // in this state
  ServerClock::time_point moved = since;               // when a byte last came or went
  std::string input;
  std::optional<WebRequest> request;  // in kBody
  CancelToken work;                   // of the request in hand
  uint64_t body_length = 0;           // of the body that is being read
  bool is_head_request = false;
  bool keep_alive = true;
  bool is_half_closed = false;  // the client sends no more
  uint32_t watched = 0;         // what epoll looks for

 private:
  // Bodies are shared with caches, so they are sent from where they lie.
  struct Piece {
    std::shared_ptr<const std::string> bytes;
    size_t sent = 0;
  };
  std::deque<Piece> output;
};

}  // namespace fovea
