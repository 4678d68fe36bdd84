// Checksums of bytes that arrive in parts. Only sha256.cc uses OpenSSL, which does the work.
#pragma once

#include <memory>
#include <string>

#include "fovea/base/file.h"

namespace fovea {

// Can be moved but not copied. After hex() the hasher is spent.
class Hasher {
 public:
  static Hasher sha256();
  static Hasher sha1();  // git names files by it; it is no protection against an attacker

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
