// Raw deflate streams (RFC 1951), which browsers unpack by themselves.
#pragma once

#include <memory>
#include <string>

#include "fovea/base/file.h"

namespace fovea {

// Packs bytes that arrive in parts. Made for numbers: it looks for runs and for frequent bytes, but
// not for repeated words, which saves time and loses little. Can be moved but not copied.
class Deflater {
 public:
  Deflater();

  void add(Bytes bytes);
  // The whole stream; nothing may be added after it.
  std::string finish();

 private:
  void pack(Bytes bytes, int flush);
  struct Free {
    void operator()(void* stream) const;
  };
  std::unique_ptr<void, Free> stream_;
  std::string packed_;
};

}  // namespace fovea
