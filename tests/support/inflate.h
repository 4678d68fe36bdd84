// What a raw deflate stream unpacks to; nothing if it is no such stream.
#pragma once

#include <zlib.h>

#include <string>
#include <string_view>

namespace fovea::support {

inline std::string inflate_raw(std::string_view packed) {
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) return {};  // negative: without zlib's header
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  std::string text;
  int status = Z_OK;
  while (status == Z_OK) {
    const size_t used = text.size();
    text.resize(used + (size_t{64} << 10));
    stream.next_out = reinterpret_cast<Bytef*>(text.data() + used);
    stream.avail_out = static_cast<uInt>(text.size() - used);
    status = inflate(&stream, Z_NO_FLUSH);
    text.resize(text.size() - stream.avail_out);
  }
  const bool whole = status == Z_STREAM_END && stream.avail_in == 0;
  inflateEnd(&stream);
  return whole ? text : std::string();
}

}  // namespace fovea::support
