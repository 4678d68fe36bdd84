#include "fovea/cli/interrupt.h"

#include <unistd.h>
#include <csignal>

#include <atomic>

namespace fovea {
namespace {

// Lock-free atomics are the only data that a signal handler may share with other threads.
std::atomic<int> guards{0};
std::atomic<int> waiting_signal{0};
static_assert(std::atomic<int>::is_always_lock_free);

void leave(int signal_number) {
  // Colours may be half written; a terminal should not stay in them.
  if (::isatty(STDOUT_FILENO) == 1) {
    static_cast<void>(!::write(STDOUT_FILENO, "\x1b[0m", 4));
  }
  ::_exit(128 + signal_number);
}

void on_signal(int signal_number) {
  // Who asks twice does not want to wait, even if a temporary file stays behind.
  const bool again = waiting_signal.exchange(signal_number) != 0;
  interrupt_token().cancel();
  if (again || guards.load() == 0) leave(signal_number);
}

}  // namespace

const CancelToken& interrupt_token() {
  static const CancelToken& token = *new CancelToken;  // a signal may come while the process ends
  return token;
}

void install_signal_handlers() {
  interrupt_token();  // made here, not in a handler
  struct sigaction action {};
  action.sa_handler = on_signal;
  ::sigemptyset(&action.sa_mask);
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  std::signal(SIGPIPE, SIG_DFL);
}

InterruptGuard::InterruptGuard() {
  guards.fetch_add(1);
}

InterruptGuard::~InterruptGuard() {
  if (guards.fetch_sub(1) == 1 && waiting_signal.load() != 0) leave(waiting_signal.load());
}

void take_interrupt() {
  waiting_signal.store(0);
}

void take_closed_pipes_as_errors() {
  std::signal(SIGPIPE, SIG_IGN);
}

bool interrupt_waits() {
  return waiting_signal.load() != 0;
}

}  // namespace fovea
