#include "fovea/io/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <new>

#include "fovea/base/error.h"

namespace fovea {
namespace {

constexpr int kGzipWindow = MAX_WBITS + 16;  // a gzip head in front
constexpr int kGzipMemory = 8;

z_stream stream_over(Bytes bytes) {
  z_stream stream{};
  stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  return stream;
}

// Calls `step` until it ends; gives the bytes that it wrote.
template <typename Step>
std::string written_by(z_stream& stream, size_t most, const Step& step) {
  std::string result;
  std::array<char, 65536> buffer;
  int status = Z_OK;
  while (status == Z_OK && result.size() <= most) {
    stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
    stream.avail_out = buffer.size();
    status = step();
    result.append(buffer.data(), buffer.size() - stream.avail_out);
  }
  if (status != Z_STREAM_END) {
    fail(ErrorKind::kBadFile, "{} bytes are no whole gzip of at most {} bytes", stream.total_in,
         most);
  }
  return result;
}

}  // namespace

std::string gzipped(Bytes bytes) {
  z_stream stream = stream_over(bytes);
  if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, kGzipWindow, kGzipMemory,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::bad_alloc();
  }
  const size_t most = bytes.size() + bytes.size() / 1000 + 1024;
  std::string result = written_by(stream, most, [&] { return deflate(&stream, Z_FINISH); });
  deflateEnd(&stream);
  return result;
}

std::string gunzipped(Bytes bytes, size_t most) {
  z_stream stream = stream_over(bytes);
  if (inflateInit2(&stream, kGzipWindow) != Z_OK) throw std::bad_alloc();
  struct End {
    z_stream& stream;
    ~End() { inflateEnd(&stream); }
  } const end{stream};
  return written_by(stream, most, [&] { return inflate(&stream, Z_NO_FLUSH); });
}

}  // namespace fovea
