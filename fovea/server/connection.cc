#include "fovea/server/connection.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

namespace fovea {

Connection::~Connection() {
  ::close(socket);
}

void Connection::enter(State next) {
  state = next;
  since = moved = ServerClock::now();
}

void Connection::put_text(std::string text) {
  output.push_back({std::make_shared<const std::string>(std::move(text)), 0});
}

void Connection::put(const WebResponse& response, bool last) {
  keep_alive = keep_alive && !last && !is_half_closed;
  put_text(response_head(response, keep_alive, /*chunked=*/false));
  const bool has_body =
      response.body && !response.body->empty() && !is_head_request && response.status != 304;
  if (has_body) output.push_back({response.body, 0});
  enter(State::kWriting);
}

bool Connection::flush() {
  while (!output.empty()) {
    Piece& piece = output.front();
    const ssize_t sent = ::send(socket, piece.bytes->data() + piece.sent,
                                piece.bytes->size() - piece.sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0) return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
    moved = ServerClock::now();
    piece.sent += static_cast<size_t>(sent);
    if (piece.sent == piece.bytes->size()) output.pop_front();
  }
  return true;
}

uint32_t Connection::events() const {
  const uint32_t closing = is_half_closed ? 0U : uint32_t{EPOLLRDHUP};
  const uint32_t writing = output.empty() ? 0U : uint32_t{EPOLLOUT};
  switch (state) {
    case State::kIdle:
    case State::kHead:
    case State::kBody:
    case State::kLingering:
      return EPOLLIN | writing;
    case State::kWorking:
    case State::kStreaming:
    case State::kWriting:
      return closing | writing;
  }
  return 0;
}

}  // namespace fovea
