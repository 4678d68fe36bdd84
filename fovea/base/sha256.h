// Checksums of bytes that arrive in parts. OpenSSL does the work, in sha256.cc only.
#pragma once

#include <memory>
#include <string>

#include "fovea/base/file.h"

namespace fovea {

// Moves, does not copy. After hex() the hasher is spent.
class Hasher {
 public:
  static Hasher sha256();
  static Hasher sha1();  // for names that git gives; it protects from nobody

  void update(Bytes bytes);
  // The checksum of everything, in lower-case hexadecimal.
  std::string hex();

 private:
  enum class Kind { kSha256, kSha1 };
  struct Free {
    void operator()(void* context) const;
  };
  explicit Hasher(Kind kind);
  std::unique_ptr<void, Free> context_;
};

// SHA-256 of all of `bytes`, in lower-case hexadecimal.
std::string sha256_hex(Bytes bytes);

}  // namespace fovea
