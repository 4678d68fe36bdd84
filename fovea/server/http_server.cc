#include "fovea/server/http_server.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "fovea/server/connection.h"

namespace fovea {

// What other threads tell the server's thread.
struct ServerMailbox {
  struct Letter {
    enum class Kind { kAnswer, kBegin, kSend, kEnd };
    uint64_t connection = 0;
    Kind kind = Kind::kAnswer;
    WebResponse response;
    std::string piece;
  };

  explicit ServerMailbox(int descriptor) : wake(descriptor) {}
  ~ServerMailbox() { ::close(wake); }

  void post(Letter letter) {
    {
      const std::lock_guard lock(mutex);
      letters.push_back(std::move(letter));
    }
    const uint64_t one = 1;
    static_cast<void>(!::write(wake, &one, sizeof(one)));
  }
  std::vector<Letter> take() {
    uint64_t count = 0;
    static_cast<void>(!::read(wake, &count, sizeof(count)));
    const std::lock_guard lock(mutex);
    return std::exchange(letters, {});
  }

  int wake;
  std::mutex mutex;
  std::vector<Letter> letters;
};

Exchange::Exchange(WebRequest request, uint64_t connection, std::shared_ptr<ServerMailbox> mailbox)
    : request_(std::move(request)), connection_(connection), mailbox_(std::move(mailbox)) {}

Exchange::~Exchange() {
  answer(problem_response(500, "the request was dropped"));
}

void Exchange::answer(WebResponse response) {
  if (is_answered_.exchange(true)) return;
  mailbox_->post({.connection = connection_,
                  .kind = ServerMailbox::Letter::Kind::kAnswer,
                  .response = std::move(response),
                  .piece = {}});
}

void Exchange::begin(WebResponse head) {
  if (is_answered_.exchange(true)) return;
  mailbox_->post({.connection = connection_,
                  .kind = ServerMailbox::Letter::Kind::kBegin,
                  .response = std::move(head),
                  .piece = {}});
}

void Exchange::send(std::string piece) {
  mailbox_->post({.connection = connection_,
                  .kind = ServerMailbox::Letter::Kind::kSend,
                  .response = {},
                  .piece = std::move(piece)});
}

void Exchange::end() {
  mailbox_->post({.connection = connection_,
                  .kind = ServerMailbox::Letter::Kind::kEnd,
                  .response = {},
                  .piece = {}});
}

namespace {

constexpr uint64_t kListenerId = 0, kMailboxId = 1, kFirstConnectionId = 2;
constexpr int kTickMilliseconds = 50;
constexpr size_t kReadBytes = size_t{64} << 10;
constexpr auto kLingerTime = std::chrono::seconds(2);

struct Addresses {
  Addresses(const std::string& host, uint16_t port) {
    addrinfo wanted{};
    wanted.ai_socktype = SOCK_STREAM;
    wanted.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
    const int problem = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &wanted, &first);
    if (problem == 0) return;
    fail(ErrorKind::kInvalidArgument, Field{"host"}, "{} is no address of this machine: {}", host,
         ::gai_strerror(problem));
  }
  Addresses(const Addresses&) = delete;
  Addresses& operator=(const Addresses&) = delete;
  ~Addresses() { ::freeaddrinfo(first); }
  addrinfo* first = nullptr;
};

int listening_socket(const HttpOptions& options) {
  const Addresses addresses(options.host, options.port);
  int problem = 0;
  for (const addrinfo* each = addresses.first; each != nullptr; each = each->ai_next) {
    const int socket =
        ::socket(each->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, each->ai_protocol);
    if (socket < 0) {
      problem = errno;
      continue;
    }
    // A port that was just let go is free at once.
    const int yes = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    if (::bind(socket, each->ai_addr, each->ai_addrlen) == 0 && ::listen(socket, SOMAXCONN) == 0) {
      return socket;
    }
    problem = errno;
    ::close(socket);
  }
  const bool taken = problem == EADDRINUSE;
  fail(taken ? ErrorKind::kBusy : ErrorKind::kInvalidArgument,
       Field{taken || problem == EACCES ? "port" : "host"}, "{} cannot be listened on at {}: {}",
       options.port, options.host, taken ? "another program has it" : std::strerror(problem));
}

uint16_t port_of(int socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  return ntohs(address.ss_family == AF_INET6
                   ? reinterpret_cast<const sockaddr_in6*>(&address)->sin6_port
                   : reinterpret_cast<const sockaddr_in*>(&address)->sin_port);
}

bool is_loopback(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET) {
    const auto* here = reinterpret_cast<const sockaddr_in*>(&address);
    return (ntohl(here->sin_addr.s_addr) >> 24) == 127;
  }
  const auto* here = reinterpret_cast<const sockaddr_in6*>(&address);
  return IN6_IS_ADDR_LOOPBACK(&here->sin6_addr) ||
         (IN6_IS_ADDR_V4MAPPED(&here->sin6_addr) && here->sin6_addr.s6_addr[12] == 127);
}

// A connection is a descriptor, and most systems begin with 1,024 of them.
void want_descriptors(size_t count) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= count) return;
  limit.rlim_cur = std::min<rlim_t>(count, limit.rlim_max);
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

std::string as_chunk(const std::string& piece) {
  return fmt::format("{:x}\r\n", piece.size()) + piece + "\r\n";
}

}  // namespace

class HttpServer::Loop {
 public:
  Loop(const HttpOptions& options, HttpHandler handler)
      : options_(options),
        handler_(std::move(handler)),
        listener_(listening_socket(options)),
        epoll_(::epoll_create1(EPOLL_CLOEXEC)),
        mailbox_(std::make_shared<ServerMailbox>(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC))) {
    constexpr size_t kOtherFiles = 512;
    want_descriptors(options.most_connections + kOtherFiles);
    watch(listener_, EPOLLIN, kListenerId, EPOLL_CTL_ADD);
    watch(mailbox_->wake, EPOLLIN, kMailboxId, EPOLL_CTL_ADD);
  }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  ~Loop() {
    for (const auto& [id, connection] : connections_) connection->work.cancel();
    connections_.clear();
    ::close(epoll_);
    ::close(listener_);
  }

  uint16_t port() const { return port_of(listener_); }
  std::shared_ptr<const HttpCounts> counts() const { return counts_; }

  void serve(const std::function<bool()>& stop) {
    std::array<epoll_event, 256> events{};
    auto next_tick = ServerClock::now();
    while (!stop()) {
      const int count = ::epoll_wait(epoll_, events.data(), events.size(), kTickMilliseconds);
      for (int i = 0; i < count; ++i) dispatch(events[static_cast<size_t>(i)]);
      if (ServerClock::now() < next_tick) continue;
      close_late();
      next_tick = ServerClock::now() + std::chrono::milliseconds(kTickMilliseconds);
    }
    for (const auto& [id, connection] : connections_) connection->work.cancel();
  }

 private:
  using State = Connection::State;

  void watch(int descriptor, uint32_t events, uint64_t id, int operation) const {
    epoll_event event{};
    event.events = events;
    event.data.u64 = id;
    ::epoll_ctl(epoll_, operation, descriptor, &event);
  }

  void dispatch(const epoll_event& event) {
    const uint64_t id = event.data.u64;
    if (id == kListenerId) return accept_all();
    if (id == kMailboxId) return read_mail();
    const auto found = connections_.find(id);
    if (found == connections_.end()) return;
    Connection& connection = *found->second;
    bool is_open = (event.events & (EPOLLERR | EPOLLHUP)) == 0;
    if (is_open && (event.events & EPOLLRDHUP) != 0) {
      connection.is_half_closed = true;
      connection.work.cancel();
    }
    if (is_open && (event.events & EPOLLIN) != 0) is_open = receive(connection);
    settle(connection, is_open);
  }

  // Brings a connection to where it can only wait, or closes it.
  void settle(Connection& connection, bool is_open) {
    while (is_open) {
      is_open = connection.flush();
      if (!is_open || connection.state != State::kWriting || connection.has_output()) break;
      if (!connection.keep_alive) {
        is_open = linger(connection);
        break;
      }
      connection.enter(State::kIdle);
      advance(connection);  // what came meanwhile
    }
    if (!is_open) return close(connection);
    const uint32_t events = connection.events();
    if (events == connection.watched) return;
    connection.watched = events;
    watch(connection.socket, events, connection.id, EPOLL_CTL_MOD);
  }

  // What a client still sends must be read, or the system tells it of an error before it has read
  // the answer.
  static bool linger(Connection& connection) {
    if (connection.is_half_closed) return false;
    ::shutdown(connection.socket, SHUT_WR);
    connection.input.clear();
    connection.enter(State::kLingering);
    return true;
  }

  void close(Connection& connection) {
    if (connection.state == State::kWorking || connection.state == State::kStreaming) {
      ++counts_->left;
    }
    connection.work.cancel();
    forget_body(connection);
    connections_.erase(connection.id);
    counts_->connections = connections_.size();
  }

  void accept_all() {
    for (;;) {
      sockaddr_storage address{};
      socklen_t size = sizeof(address);
      const int socket = ::accept4(listener_, reinterpret_cast<sockaddr*>(&address), &size,
                                   SOCK_NONBLOCK | SOCK_CLOEXEC);
      if (socket < 0) {
        // The listener would wake us for ever.
        if (errno == EMFILE || errno == ENFILE) close_oldest(nullptr);
        return;
      }
      const int yes = 1;
      ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
      auto connection = std::make_unique<Connection>(socket, next_id_++, is_loopback(address));
      Connection& made = *connection;
      connections_.emplace(made.id, std::move(connection));
      watch(socket, EPOLLIN, made.id, EPOLL_CTL_ADD);
      made.watched = EPOLLIN;
      if (connections_.size() > options_.most_connections) make_room(made);
      counts_->connections = connections_.size();
    }
  }

  // Who has waited longest without asking anything goes. If all are at work, the new one is
  // refused.
  void make_room(Connection& newest) {
    if (close_oldest(&newest)) return;
    refuse(newest, 503,
           fmt::format("{} connections are open, as many as the server takes; try again later",
                       options_.most_connections));
    settle(newest, true);
  }

  bool close_oldest(const Connection* except) {
    Connection* oldest = nullptr;
    for (const auto& [id, each] : connections_) {
      const bool asks_nothing = each->state == State::kIdle || each->state == State::kHead ||
                                each->state == State::kLingering;
      if (!asks_nothing || each.get() == except) continue;
      if (oldest == nullptr || each->since < oldest->since) oldest = each.get();
    }
    if (oldest == nullptr) return false;
    close(*oldest);
    return true;
  }

  // Reads what has come. False: the client is gone.
  bool receive(Connection& connection) {
    std::array<char, kReadBytes> buffer;
    for (;;) {
      const ssize_t count = ::recv(connection.socket, buffer.data(), buffer.size(), MSG_DONTWAIT);
      if (count < 0) return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
      if (count == 0) {
        connection.is_half_closed = true;
        // Half a request will never be whole.
        return connection.state == State::kWriting || connection.state == State::kWorking ||
               connection.state == State::kStreaming;
      }
      connection.moved = ServerClock::now();
      if (connection.state == State::kLingering) continue;
      connection.input.append(buffer.data(), static_cast<size_t>(count));
      advance(connection);
      const bool reads = connection.state == State::kIdle || connection.state == State::kHead ||
                         connection.state == State::kBody;
      if (!reads) return true;
    }
  }

  // Goes as far as what has come allows.
  void advance(Connection& connection) {
    if (connection.state == State::kIdle && !connection.input.empty()) {
      connection.enter(State::kHead);
    }
    try {
      if (connection.state == State::kHead) read_head(connection);
      if (connection.state == State::kBody) read_body(connection);
    } catch (const HttpProblem& problem) {
      refuse(connection, problem.status(), problem.what());
    } catch (const std::bad_alloc&) {
      refuse(connection, 507, "there is not enough memory for this request");
    } catch (const std::exception& error) {
      refuse(connection, 500, fmt::format("unexpected: {}; please report this", error.what()));
    }
  }

  void read_head(Connection& connection) {
    // A client may send an empty line behind a body.
    if (connection.input.starts_with("\r\n")) connection.input.erase(0, 2);
    const auto end = find_head_end(connection.input, options_.limits);
    if (!end) return;
    WebRequest request =
        parse_http_head(std::string_view(connection.input).substr(0, *end), options_.limits);
    request.from_here = connection.from_here;
    connection.keep_alive = request.keep_alive;
    connection.is_head_request = request.method == "HEAD";
    const uint64_t most = handler_.admit(request);
    const uint64_t length = request.length.value_or(0);
    if (length > most) {
      throw HttpProblem(413, most == 0 ? std::string("this address takes no body")
                                       : fmt::format("a body of {} bytes is more than the {} that "
                                                     "this address takes",
                                                     length, most));
    }
    if (body_bytes_ + length > options_.most_body_bytes) {
      throw HttpProblem(503, "too many bodies are on their way already; try again later");
    }
    connection.input.erase(0, *end);
    connection.body_length = length;
    body_bytes_ += length;
    if (request.wants_continue && connection.input.empty() && length > 0) {
      connection.put_text("HTTP/1.1 100 Continue\r\n\r\n");
    }
    connection.request = std::move(request);
    connection.enter(State::kBody);
  }

  void read_body(Connection& connection) {
    WebRequest& request = *connection.request;
    const auto length = static_cast<size_t>(request.length.value_or(0));
    const size_t part = std::min(length - request.body.size(), connection.input.size());
    request.body.append(connection.input, 0, part);
    connection.input.erase(0, part);
    if (request.body.size() < length) return;
    forget_body(connection);
    ++counts_->requests;
    connection.enter(State::kWorking);
    auto exchange =
        std::make_shared<Exchange>(*std::exchange(connection.request, {}), connection.id, mailbox_);
    connection.work = exchange->cancel();
    handler_.handle(std::move(exchange));
  }

  void forget_body(Connection& connection) {
    body_bytes_ -= std::exchange(connection.body_length, 0);
  }

  void refuse(Connection& connection, int status, const std::string& message) {
    forget_body(connection);
    ++counts_->refused;
    connection.put(problem_response(status, message), /*last=*/true);
  }

  void read_mail() {
    for (ServerMailbox::Letter& letter : mailbox_->take()) {
      const auto found = connections_.find(letter.connection);
      if (found == connections_.end()) continue;
      Connection& connection = *found->second;
      take_letter(connection, letter);
      settle(connection, true);
    }
  }

  static void take_letter(Connection& connection, const ServerMailbox::Letter& letter) {
    using Kind = ServerMailbox::Letter::Kind;
    if (letter.kind == Kind::kAnswer && connection.state == State::kWorking) {
      connection.put(letter.response, /*last=*/false);
    } else if (letter.kind == Kind::kBegin && connection.state == State::kWorking) {
      connection.keep_alive = connection.keep_alive && !connection.is_half_closed;
      connection.put_text(response_head(letter.response, connection.keep_alive, /*chunked=*/true));
      connection.enter(State::kStreaming);
    } else if (letter.kind == Kind::kSend && connection.state == State::kStreaming) {
      if (!letter.piece.empty()) connection.put_text(as_chunk(letter.piece));
    } else if (letter.kind == Kind::kEnd && connection.state == State::kStreaming) {
      connection.put_text("0\r\n\r\n");
      connection.enter(State::kWriting);
    }
  }

  // Whoever takes longer than anybody needs.
  void close_late() {
    const auto now = ServerClock::now();
    const HttpTimes& times = options_.times;
    std::vector<uint64_t> late, timed_out;
    for (const auto& [id, each] : connections_) {
      const auto lasted = now - each->since;
      const bool stalls = now - each->moved > times.stall;
      switch (each->state) {
        case State::kIdle:
          if (lasted > times.idle) late.push_back(id);
          break;
        case State::kHead:
          if (lasted > times.head) timed_out.push_back(id);
          break;
        case State::kBody:
          if (lasted > times.body || stalls) timed_out.push_back(id);
          break;
        case State::kLingering:
          if (lasted > kLingerTime) late.push_back(id);
          break;
        case State::kWriting:
        case State::kStreaming:
          if (each->has_output() && stalls) late.push_back(id);
          break;
        case State::kWorking:
          break;
      }
    }
    for (const uint64_t id : late) close(*connections_.at(id));
    for (const uint64_t id : timed_out) {
      Connection& connection = *connections_.at(id);
      refuse(connection, 408, "the request took too long to arrive");
      settle(connection, true);
    }
  }

  HttpOptions options_;
  HttpHandler handler_;
  int listener_;
  int epoll_;
  std::shared_ptr<ServerMailbox> mailbox_;
  std::map<uint64_t, std::unique_ptr<Connection>> connections_;
  uint64_t next_id_ = kFirstConnectionId;
  uint64_t body_bytes_ = 0;
  std::shared_ptr<HttpCounts> counts_ = std::make_shared<HttpCounts>();
};

HttpServer::HttpServer(const HttpOptions& options, HttpHandler handler)
    : loop_(std::make_unique<Loop>(options, std::move(handler))) {}

HttpServer::~HttpServer() = default;

uint16_t HttpServer::port() const {
  return loop_->port();
}

std::shared_ptr<const HttpCounts> HttpServer::counts() const {
  return loop_->counts();
}

void HttpServer::serve(const std::function<bool()>& stop) {
  loop_->serve(stop);
}

}  // namespace fovea
