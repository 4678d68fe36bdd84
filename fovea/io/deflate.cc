#include "fovea/io/deflate.h"

#include <zlib.h>

#include <limits>

#include "fovea/base/error.h"

namespace fovea {
namespace {

constexpr int kLevel = 1;
constexpr int kRawWindow = -15;  // 32 KiB, without zlib's header
constexpr int kMemory = 9;       // the most, for the longest blocks
constexpr size_t kStep = size_t{64} << 10;

}  // namespace

Deflater::Deflater() {
  auto stream = std::make_unique<z_stream>();
  if (deflateInit2(stream.get(), kLevel, Z_DEFLATED, kRawWindow, kMemory, Z_RLE) != Z_OK) {
    fail(ErrorKind::kInternal, "zlib could not be started; free some memory");
  }
  stream_.reset(stream.release());
}

void Deflater::Free::operator()(void* stream) const {
  const std::unique_ptr<z_stream> owned(static_cast<z_stream*>(stream));
  deflateEnd(owned.get());
}

void Deflater::add(Bytes bytes) {
  // zlib counts in unsigned int.
  constexpr size_t kMost = std::numeric_limits<uInt>::max();
  for (; bytes.size() > kMost; bytes = bytes.subspan(kMost)) pack(bytes.first(kMost), Z_NO_FLUSH);
  pack(bytes, Z_NO_FLUSH);
}

std::string Deflater::finish() {
  pack({}, Z_FINISH);
  return std::move(packed_);
}

void Deflater::pack(Bytes bytes, int flush) {
  auto* stream = static_cast<z_stream*>(stream_.get());
  stream->next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(bytes.data()));
  stream->avail_in = static_cast<uInt>(bytes.size());
  do {
    const size_t used = packed_.size();
    packed_.resize(used + kStep);
    stream->next_out = reinterpret_cast<Bytef*>(packed_.data() + used);
    stream->avail_out = static_cast<uInt>(kStep);
    deflate(stream, flush);
    packed_.resize(packed_.size() - stream->avail_out);
  } while (stream->avail_out == 0);
}

}  // namespace fovea
