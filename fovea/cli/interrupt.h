// Ctrl-C ends the program at once with exit code 130, but never in the middle of writing a file.
#pragma once

namespace fovea {

// Takes over SIGINT and SIGTERM (exit code 128 + number) and makes a closed pipe end the program
// quietly. Called once, before any other thread starts.
void install_signal_handlers();

// While one lives, the first interrupt waits until it dies. Put it around writing a file.
class InterruptGuard {
 public:
  InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  ~InterruptGuard();
};

// Whether an interrupt waits for a guard: long work below one should leave.
bool interrupt_waits();

}  // namespace fovea
