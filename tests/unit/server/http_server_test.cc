#include "fovea/server/http_server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "fovea/server/connection.h"
#include "support/errors.h"

namespace fovea {
namespace {

using namespace std::chrono_literals;

// A server whose handler is a function, on a thread of its own.
class TestServer {
 public:
  using Handle = std::function<void(std::shared_ptr<Exchange>)>;

  explicit TestServer(Handle handle, HttpOptions options = {})
      : server_(options,
                {.admit = [](WebRequest&) { return uint64_t{100}; }, .handle = std::move(handle)}),
        thread_([this] { server_.serve([this] { return stop_.load(); }); }) {}
  ~TestServer() {
    stop_ = true;
    thread_.join();
  }
  uint16_t port() const { return server_.port(); }
  const HttpCounts& counts() const { return *server_.counts(); }

 private:
  HttpServer server_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

class TestClient {
 public:
  explicit TestClient(uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int status =
        ::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
    EXPECT_EQ(status, 0);
    const timeval patience{.tv_sec = 10, .tv_usec = 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  }
  TestClient(const TestClient&) = delete;
  TestClient& operator=(const TestClient&) = delete;
  ~TestClient() { close(); }

  void close() {
    if (socket_ >= 0) ::close(socket_);
    socket_ = -1;
  }
  void send(const std::string& text) const {
    EXPECT_EQ(::send(socket_, text.data(), text.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(text.size()));
  }
  // Until `end` has come, or the server closes.
  std::string read(const std::string& end) const {
    std::string text;
    char buffer[4096];
    while (text.find(end) == text.npos) {
      const ssize_t count = ::recv(socket_, buffer, sizeof(buffer), 0);
      if (count <= 0) break;
      text.append(buffer, static_cast<size_t>(count));
    }
    return text;
  }

 private:
  int socket_;
};

template <typename Condition>
bool comes_true(const Condition& condition, std::chrono::milliseconds time = 10s) {
  const auto end = ServerClock::now() + time;
  while (!condition()) {
    if (ServerClock::now() > end) return false;
    std::this_thread::sleep_for(1ms);
  }
  return true;
}

const std::string kGet = "GET /a HTTP/1.1\r\nHost: a\r\n\r\n";

TEST(HttpServer, AnswersRequestsThatComeTogetherOneAfterTheOther) {
  const TestServer server([](const std::shared_ptr<Exchange>& exchange) {
    exchange->answer(bytes_response(
        "body of " + exchange->request().path + exchange->request().body, "text/plain"));
  });
  const TestClient client(server.port());
  client.send(kGet + "POST /b HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nxyz" +
              "GET /c HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  const std::string text = client.read("body of /c");
  EXPECT_NE(text.find("body of /a"), text.npos);
  EXPECT_LT(text.find("body of /a"), text.find("body of /bxyz"));
  EXPECT_LT(text.find("body of /bxyz"), text.find("body of /c"));
  EXPECT_EQ(client.read("never"), "");  // closed
}

TEST(HttpServer, AnswersInPiecesAsTheyCome) {
  const TestServer server([](const std::shared_ptr<Exchange>& exchange) {
    exchange->begin({.type = "application/x-ndjson"});
    exchange->send("one\n");
    exchange->send("two\n");
    exchange->end();
  });
  const TestClient client(server.port());
  client.send(kGet);
  const std::string text = client.read("\r\n0\r\n\r\n");
  EXPECT_NE(text.find("Transfer-Encoding: chunked\r\n"), text.npos);
  EXPECT_NE(text.find("4\r\none\n\r\n4\r\ntwo\n\r\n0\r\n\r\n"), text.npos);
}

TEST(HttpServer, WorkHearsWithinFiftyMillisecondsThatItsClientHasGone) {
  std::mutex mutex;
  std::vector<std::shared_ptr<Exchange>> held;
  const auto count = [&] {
    const std::lock_guard lock(mutex);
    return held.size();
  };
  TestServer server([&](std::shared_ptr<Exchange> exchange) {
    const std::lock_guard lock(mutex);
    held.push_back(std::move(exchange));
  });
  std::vector<double> times;
  for (size_t i = 0; i < 9; ++i) {
    TestClient client(server.port());
    client.send(kGet);
    ASSERT_TRUE(comes_true([&] { return count() == i + 1; }));
    EXPECT_FALSE(held[i]->cancel().cancelled());
    const auto begin = ServerClock::now();
    client.close();
    ASSERT_TRUE(comes_true([&] { return held[i]->cancel().cancelled(); }));
    times.push_back(std::chrono::duration<double, std::milli>(ServerClock::now() - begin).count());
  }
  std::ranges::sort(times);
  EXPECT_LT(times[times.size() / 2], 50);  // the median: other programs are busy too
  // What is said to somebody who has gone is dropped.
  for (const auto& exchange : held) exchange->answer(json_response(Json::object()));
  EXPECT_TRUE(comes_true([&] { return server.counts().connections == 0; }));
}

TEST(HttpServer, ARequestThatNobodyAnswersGetsAnError) {
  const TestServer server([](const std::shared_ptr<Exchange>&) {});
  const TestClient client(server.port());
  client.send(kGet);
  EXPECT_NE(client.read("dropped").find("HTTP/1.1 500"), std::string::npos);
}

TEST(HttpServer, WhoeverTakesTooLongIsToldSo) {
  HttpOptions options;
  options.times.head = 100ms;
  options.times.idle = 100ms;
  options.times.stall = 100ms;
  const TestServer server(
      [](const std::shared_ptr<Exchange>& exchange) {
        exchange->answer(bytes_response("", "text/plain"));
      },
      options);
  const TestClient head(server.port()), body(server.port()), idle(server.port());
  head.send("GET / HTT");
  body.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nx");
  EXPECT_NE(head.read("}\n").find("HTTP/1.1 408"), std::string::npos);
  EXPECT_NE(body.read("}\n").find("HTTP/1.1 408"), std::string::npos);
  EXPECT_EQ(idle.read("never"), "");
}

TEST(HttpServer, WhenItIsFullWhoAsksNothingGoesFirst) {
  HttpOptions options;
  options.most_connections = 3;
  std::mutex mutex;
  std::vector<std::shared_ptr<Exchange>> held;
  const TestServer server(
      [&](std::shared_ptr<Exchange> exchange) {
        const std::lock_guard lock(mutex);
        if (exchange->request().path == "/a")
          return exchange->answer(json_response(Json::object()));
        held.push_back(std::move(exchange));
      },
      options);
  const std::string hold = "GET /hold HTTP/1.1\r\nHost: a\r\n\r\n";
  const TestClient slow(server.port());
  slow.send("G");
  ASSERT_TRUE(comes_true([&] { return server.counts().connections == 1; }));
  const TestClient first(server.port()), second(server.port());
  first.send(hold);
  second.send(hold);
  const auto holding = [&] {
    const std::lock_guard lock(mutex);
    return held.size();
  };
  ASSERT_TRUE(comes_true([&] { return holding() == 2; }));
  const TestClient third(server.port());
  third.send(kGet);
  EXPECT_NE(third.read("{}").find("HTTP/1.1 200"), std::string::npos);
  EXPECT_EQ(slow.read("never"), "");  // it had to go
  third.send(hold);
  ASSERT_TRUE(comes_true([&] { return holding() == 3; }));
  const TestClient fourth(server.port());
  EXPECT_NE(fourth.read("}\n").find("HTTP/1.1 503"), std::string::npos);
  const std::lock_guard lock(mutex);
  held.clear();
}

TEST(HttpServer, ATakenPortAndAStrangeHostAreTold) {
  const TestServer server([](const std::shared_ptr<Exchange>&) {});
  HttpOptions options;
  options.port = server.port();
  EXPECT_TRUE(fails_with(ErrorKind::kBusy, Field{"port"}, "another program has it",
                         [&] { HttpServer(options, {}); }));
  options.host = "no.such.host.invalid";
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, Field{"host"}, "no.such.host.invalid",
                         [&] { HttpServer(options, {}); }));
}

}  // namespace
}  // namespace fovea
