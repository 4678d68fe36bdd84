#include "fovea/base/sha256.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>

#include "fovea/base/cancel.h"
#include "fovea/base/error.h"

namespace fovea {
namespace {

EVP_MD_CTX* as_context(void* context) {
  return static_cast<EVP_MD_CTX*>(context);
}

void check(bool ok) {
  if (!ok) fail(ErrorKind::kInternal, "OpenSSL refuses to compute a checksum; is it in FIPS mode?");
}

}  // namespace

void Hasher::Free::operator()(void* context) const {
  EVP_MD_CTX_free(as_context(context));
}

Hasher::Hasher(Kind kind) : context_(EVP_MD_CTX_new()) {
  check(context_ != nullptr);
  const EVP_MD* digest = kind == Kind::kSha256 ? EVP_sha256() : EVP_sha1();
  check(EVP_DigestInit_ex(as_context(context_.get()), digest, nullptr) == 1);
}

Hasher Hasher::sha256() {
  return Hasher(Kind::kSha256);
}

Hasher Hasher::sha1() {
  return Hasher(Kind::kSha1);
}

void Hasher::update(Bytes bytes) {
  constexpr size_t kPieceBytes = size_t{8} << 20;  // some milliseconds
  for (; !bytes.empty(); bytes = bytes.subspan(std::min(bytes.size(), kPieceBytes))) {
    check_cancelled();
    const Bytes piece = bytes.first(std::min(bytes.size(), kPieceBytes));
    check(EVP_DigestUpdate(as_context(context_.get()), piece.data(), piece.size()) == 1);
  }
}

std::string Hasher::hex() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned int size = 0;
  check(EVP_DigestFinal_ex(as_context(context_.get()), digest.data(), &size) == 1);
  std::string text;
  for (unsigned int i = 0; i < size; ++i) text += fmt::format("{:02x}", digest[i]);
  return text;
}

std::string sha256_hex(Bytes bytes) {
  Hasher hasher = Hasher::sha256();
  hasher.update(bytes);
  return hasher.hex();
}

}  // namespace fovea
