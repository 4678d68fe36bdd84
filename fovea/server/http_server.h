// HTTP/1.1 on one thread that never waits: it reads requests, gives them to others and writes their
// answers. A connection costs memory and no thread, so many slow ones hold nobody up.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "fovea/base/cancel.h"
#include "fovea/server/http_request.h"
#include "fovea/server/http_response.h"

namespace fovea {

struct ServerMailbox;

// A request and the way its answer goes back. All members may be called from any thread; what comes
// after the client has gone is dropped.
class Exchange {
 public:
  Exchange(WebRequest request, uint64_t connection, std::shared_ptr<ServerMailbox> mailbox);
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  ~Exchange();  // a request that nobody answered gets a 500

  const WebRequest& request() const { return request_; }
  // Cancelled when the client closes the connection, and when the server ends.
  const CancelToken& cancel() const { return cancel_; }

  // Answers. Later calls do nothing.
  void answer(WebResponse response);
  // Answers in pieces: begin, send any number of times, end.
  void begin(WebResponse head);
  void send(std::string piece);
  void end();

 private:
  WebRequest request_;
  uint64_t connection_;
  std::shared_ptr<ServerMailbox> mailbox_;
  CancelToken cancel_;
  std::atomic<bool> is_answered_ = false;
};

struct HttpTimes {
  std::chrono::milliseconds head{
      15'000};  // from the first byte of a request to the end of its head
  std::chrono::milliseconds idle{60'000};   // until the next request begins
  std::chrono::milliseconds body{300'000};  // for a whole body
  std::chrono::milliseconds stall{30'000};  // without a byte that the client takes or sends
};

struct HttpOptions {
  std::string host = "127.0.0.1";  // an address, or a name that has one
  uint16_t port = 0;               // 0: any that is free
  size_t most_connections = 1000;
  uint64_t most_body_bytes = uint64_t{1} << 30;  // of all bodies that are being read
  HttpLimits limits;
  HttpTimes times;
};

struct HttpHandler {
  // Decides by its head whether a request is taken. Returns how long its body may be; throws
  // HttpProblem. On the server's thread: must be quick.
  std::function<uint64_t(WebRequest& head)> admit;
  // Takes a whole request, and answers it at any time. On the server's thread: must be quick.
  std::function<void(std::shared_ptr<Exchange>)> handle;
};

struct HttpCounts {
  std::atomic<uint64_t> connections{0};  // open now
  std::atomic<uint64_t> requests{0};     // read whole
  std::atomic<uint64_t> refused{0};      // refused by their form, or because the server was full
  std::atomic<uint64_t> left{0};         // whose client went before the answer
};

class HttpServer {
 public:
  // Listens. Throws Error{kBusy} if the port is taken, Error{kInvalidArgument} about the field
  // "host" or "port" for what cannot be listened on.
  HttpServer(const HttpOptions& options, HttpHandler handler);
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  ~HttpServer();

  uint16_t port() const;
  // They outlive the server.
  std::shared_ptr<const HttpCounts> counts() const;
  // Serves until `stop` says so, which is asked some 20 times a second. Then cancels what is under
  // way.
  void serve(const std::function<bool()>& stop);

 private:
  class Loop;
  std::unique_ptr<Loop> loop_;
};

}  // namespace fovea
