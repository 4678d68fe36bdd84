// Expecting an Error.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "fovea/base/error.h"

namespace fovea {

// Whether `work` throws Error{kind} with `part` in its message, which must be one line.
template <typename Work>
::testing::AssertionResult fails_with(ErrorKind kind, std::string_view part, Work&& work) {
  try {
    work();
  } catch (const Error& error) {
    const std::string_view message = error.what();
    if (error.kind() != kind) {
      return ::testing::AssertionFailure()
             << "kind " << static_cast<int>(error.kind()) << " with '" << message << "'";
    }
    if (message.find(part) == message.npos) {
      return ::testing::AssertionFailure() << "'" << message << "' does not say '" << part << "'";
    }
    if (message.empty() || message.find('\n') != message.npos || message.size() > 1000) {
      return ::testing::AssertionFailure() << "not one line: '" << message << "'";
    }
    return ::testing::AssertionSuccess();
  }
  return ::testing::AssertionFailure() << "nothing was thrown";
}

// As above, and checks that the error is about that field.
template <typename Work>
::testing::AssertionResult fails_with(ErrorKind kind, Field field, std::string_view part,
                                      Work&& work) {
  std::string found;
  const auto result = fails_with(kind, part, [&] {
    try {
      work();
    } catch (const Error& error) {
      found = error.field();
      throw;
    }
  });
  if (!result || found == field.name) return result;
  return ::testing::AssertionFailure() << "about '" << found << "', not '" << field.name << "'";
}

// The message of the Error that `work` throws; empty if it throws none.
template <typename Work>
std::string message_of(Work&& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

// As fails_with, for any kind of Error.
template <typename Work>
::testing::AssertionResult fails_cleanly(Work&& work) {
  try {
    work();
  } catch (const Error& error) {
    return fails_with(error.kind(), "", [&] { throw error; });
  }
  return ::testing::AssertionFailure() << "nothing was thrown";
}

}  // namespace fovea
