#include "fovea/render/png.h"

#include <png.h>

#include <csetjmp>
#include <cstdio>
#include <vector>

#include "fovea/base/cancel.h"
#include "fovea/base/error.h"
#include "fovea/base/file.h"

namespace fovea {
namespace {

struct Encoder {
  png_structp writer = nullptr;
  png_infop info = nullptr;
  std::string bytes;
  char error[128] = "";  // fixed, so that keeping a message cannot fail

  Encoder() = default;
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;
  ~Encoder() { png_destroy_write_struct(&writer, &info); }
};

// libpng is C: no exception may pass through it, so both callbacks end in its own long jump.
void on_error(png_structp writer, png_const_charp message) {
  auto* encoder = static_cast<Encoder*>(png_get_error_ptr(writer));
  std::snprintf(encoder->error, sizeof encoder->error, "%s", message);
  png_longjmp(writer, 1);
}

void on_write(png_structp writer, png_bytep data, png_size_t length) {
  auto* encoder = static_cast<Encoder*>(png_get_io_ptr(writer));
  bool failed = false;
  try {
    encoder->bytes.append(reinterpret_cast<const char*>(data), length);
  } catch (const std::exception&) {
    failed = true;
  }
  if (failed) png_error(writer, "not enough memory");
}

png_text text_chunk(const char* key, const std::string& value) {
  png_text chunk{};
  // iTXt holds UTF-8; plain tEXt is Latin-1 and is what every reader knows.
  const bool ascii = value.find_first_not_of(
                         "\t\n !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`"
                         "abcdefghijklmnopqrstuvwxyz{|}~") == std::string::npos;
  chunk.compression = ascii ? PNG_TEXT_COMPRESSION_NONE : PNG_ITXT_COMPRESSION_NONE;
  chunk.key = const_cast<char*>(key);
  chunk.text = const_cast<char*>(value.c_str());
  chunk.text_length = ascii ? value.size() : 0;
  chunk.itxt_length = ascii ? 0 : value.size();
  return chunk;
}

// Pixels of 8 bits per channel: RGB, or grey.
struct Pixels {
  const uint8_t* bytes;
  PictureSize size;
  bool grey;
};

// Only plain values live in this frame: a long jump out of libpng skips destructors.
bool run(Encoder& encoder, const Pixels& image, png_text* chunks, int chunk_count,
         const PngText& text) {
  if (setjmp(png_jmpbuf(encoder.writer)) != 0) return false;
  png_set_IHDR(encoder.writer, encoder.info, static_cast<png_uint_32>(image.size.width),
               static_cast<png_uint_32>(image.size.height), 8,
               image.grey ? PNG_COLOR_TYPE_GRAY : PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  if (!image.grey) {
    png_set_sRGB_gAMA_and_cHRM(encoder.writer, encoder.info, PNG_sRGB_INTENT_PERCEPTUAL);
  }
  png_set_compression_level(encoder.writer, text.compression);
  png_set_filter(encoder.writer, PNG_FILTER_TYPE_BASE,
                 text.rows_repeat ? PNG_FILTER_UP : PNG_FILTER_NONE);
  if (text.pixels_per_inch > 0) {
    const auto per_meter = static_cast<png_uint_32>(text.pixels_per_inch / 0.0254 + 0.5);
    png_set_pHYs(encoder.writer, encoder.info, per_meter, per_meter, PNG_RESOLUTION_METER);
  }
  png_set_text(encoder.writer, encoder.info, chunks, chunk_count);
  png_write_info(encoder.writer, encoder.info);
  const int64_t row_bytes = image.size.width * (image.grey ? 1 : 3);
  for (int64_t row = 0; row < image.size.height; ++row) {
    if (cancel_asked()) png_error(encoder.writer, "cancelled");
    png_write_row(encoder.writer, image.bytes + row * row_bytes);
  }
  png_write_end(encoder.writer, nullptr);
  return true;
}

std::string encode(const Pixels& image, const PngText& text) {
  if (image.size.width < 1 || image.size.height < 1) {
    fail(ErrorKind::kInvalidArgument, "a PNG of {} x {} pixels cannot be; draw something first",
         image.size.width, image.size.height);
  }
  std::vector<png_text> chunks;
  if (!text.software.empty()) chunks.push_back(text_chunk("Software", text.software));
  if (!text.title.empty()) chunks.push_back(text_chunk("Title", text.title));
  if (!text.description.empty()) chunks.push_back(text_chunk("Description", text.description));
  if (!text.metadata.empty()) chunks.push_back(text_chunk("fovea", text.metadata));

  Encoder encoder;
  encoder.writer = png_create_write_struct(PNG_LIBPNG_VER_STRING, &encoder, on_error,
                                           [](png_structp, png_const_charp) {});
  if (encoder.writer != nullptr) encoder.info = png_create_info_struct(encoder.writer);
  if (encoder.info == nullptr) fail(ErrorKind::kInternal, "libpng cannot start; is memory short?");
  png_set_write_fn(encoder.writer, &encoder, on_write, nullptr);
  if (!run(encoder, image, chunks.data(), static_cast<int>(chunks.size()), text)) {
    check_cancelled();
    fail(ErrorKind::kInternal, "the PNG of {} x {} pixels failed: {}", image.size.width,
         image.size.height, encoder.error);
  }
  return std::move(encoder.bytes);
}

}  // namespace

std::string encode_png(const Picture& image, const PngText& text) {
  return encode({image.bytes.data(), image.size(), false}, text);
}

std::string encode_png(const LabelMask& mask) {
  return encode({mask.labels.data(), mask.size, true}, {});
}

void write_png(const std::filesystem::path& path, const Picture& image, const PngText& text) {
  const std::string bytes = encode_png(image, text);
  write_file_atomic(path, [&](FileWriter& writer) { writer.write(bytes); });
}

void write_png(const std::filesystem::path& path, const LabelMask& mask) {
  const std::string bytes = encode_png(mask);
  write_file_atomic(path, [&](FileWriter& writer) { writer.write(bytes); });
}

}  // namespace fovea
