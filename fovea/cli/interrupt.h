// Ctrl-C ends the program at once with exit code 130. If a file is being written, the writing is
// cancelled first, so that no part of a file stays behind.
#pragma once

#include "fovea/base/cancel.h"

namespace fovea {

// Takes over SIGINT and SIGTERM (exit code 128 + number) and makes a closed pipe end the program
// quietly. Called once, before any other thread starts.
void install_signal_handlers();

// The program's work runs under this token; an interrupt cancels it.
const CancelToken& interrupt_token();

// While one lives, the first interrupt waits until it is destroyed, and cancels the work that it
// guards. Put it around writing a file.
class InterruptGuard {
 public:
  InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  ~InterruptGuard();
};

// For a verb that an interrupt ends in good order, as it does a server: within a guard, the
// interrupt that waits is taken as done.
void take_interrupt();

// From now on a closed pipe is an error of who writes to it, who can then clean up.
void take_closed_pipes_as_errors();

// Whether an interrupt has come and waits for a guard.
bool interrupt_waits();

}  // namespace fovea
