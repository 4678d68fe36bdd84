// PNG, read with libpng.
#include <png.h>

#include <csetjmp>
#include <cstdio>
#include <cstring>

#include "fovea/base/error.h"
#include "fovea/vision/exif.h"
#include "fovea/vision/picture_reader.h"

namespace fovea {
namespace {

struct PngDecoder {
  png_structp reader = nullptr;
  png_infop info = nullptr;
  Bytes rest;            // not read yet
  char error[128] = "";  // fixed, so that keeping a message cannot fail

  explicit PngDecoder(Bytes bytes) : rest(bytes) {}
  PngDecoder(const PngDecoder&) = delete;
  PngDecoder& operator=(const PngDecoder&) = delete;
  ~PngDecoder() { png_destroy_read_struct(&reader, &info, nullptr); }
};

// libpng is C: no exception may pass through it, so the callbacks end in its own long jump.
void on_png_error(png_structp reader, png_const_charp message) {
  auto* decoder = static_cast<PngDecoder*>(png_get_error_ptr(reader));
  std::snprintf(decoder->error, sizeof decoder->error, "%s", message);
  png_longjmp(reader, 1);
}

void on_read(png_structp reader, png_bytep target, png_size_t length) {
  auto* decoder = static_cast<PngDecoder*>(png_get_io_ptr(reader));
  if (length > decoder->rest.size()) png_error(reader, "the end is missing");
  std::memcpy(target, decoder->rest.data(), length);
  decoder->rest = decoder->rest.subspan(length);
}

// Everything but pixels, transparency and orientation is left unread: colour profiles and texts are
// where hostile files hide.
void skip_other_chunks(png_structp reader) {
  png_set_keep_unknown_chunks(reader, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
  const png_byte wanted[] = {'e', 'X', 'I', 'f', '\0'};
  png_set_keep_unknown_chunks(reader, PNG_HANDLE_CHUNK_AS_DEFAULT, wanted, 1);
}

// Only plain values live in the frames that call setjmp: a long jump skips destructors.
bool read_png_header(PngDecoder& decoder) {
  if (setjmp(png_jmpbuf(decoder.reader)) != 0) return false;
  skip_other_chunks(decoder.reader);
  png_set_user_limits(decoder.reader, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
  png_read_info(decoder.reader, decoder.info);
  return true;
}

void as_rgb(png_structp reader) {
  png_set_strip_16(reader);  // the upper byte stays
  png_set_palette_to_rgb(reader);
  png_set_expand_gray_1_2_4_to_8(reader);
  png_set_strip_alpha(reader);
  png_set_gray_to_rgb(reader);
}

// Grey levels and indices of a palette as they are stored.
void as_numbers(png_structp reader) {
  png_set_packing(reader);
  png_set_strip_alpha(reader);
}

bool read_png_rows(PngDecoder& decoder, void (*prepare)(png_structp), png_bytep pixels,
                   size_t row_bytes, png_uint_32 height) {
  if (setjmp(png_jmpbuf(decoder.reader)) != 0) return false;
  png_structp reader = decoder.reader;
  prepare(reader);
  const int passes = png_set_interlace_handling(reader);
  png_read_update_info(reader, decoder.info);
  if (png_get_rowbytes(reader, decoder.info) != row_bytes)
    png_error(reader, "rows of a wrong size");
  for (int pass = 0; pass < passes; ++pass) {
    for (png_uint_32 y = 0; y < height; ++y) {
      png_read_row(reader, pixels + y * row_bytes, nullptr);
    }
  }
  png_read_end(reader, decoder.info);
  return true;
}

// Deflate makes at most 1032 bytes of one, so a short file cannot hold a large picture.
void check_plausible(const PictureSource& source, const PngDecoder& decoder) {
  const auto height = static_cast<int64_t>(png_get_image_height(decoder.reader, decoder.info));
  const auto row_bytes = static_cast<int64_t>(png_get_rowbytes(decoder.reader, decoder.info));
  const auto file_bytes = static_cast<int64_t>(source.size());
  if (height * row_bytes > 1032 * file_bytes) {
    fail_corrupt(source, "PNG",
                 fmt::format("{} bytes of pixels cannot come out of it", height * row_bytes));
  }
}

// As far as the pixels; the size is one that may be allocated.
PictureSize open(PngDecoder& decoder, const PictureSource& source) {
  decoder.reader = png_create_read_struct(PNG_LIBPNG_VER_STRING, &decoder, on_png_error,
                                          [](png_structp, png_const_charp) {});
  if (decoder.reader != nullptr) decoder.info = png_create_info_struct(decoder.reader);
  if (decoder.info == nullptr) fail(ErrorKind::kInternal, "libpng cannot start; is memory short?");
  png_set_read_fn(decoder.reader, &decoder, on_read);

  if (!read_png_header(decoder)) fail_corrupt(source, "PNG", decoder.error);
  const png_uint_32 width = png_get_image_width(decoder.reader, decoder.info);
  const png_uint_32 height = png_get_image_height(decoder.reader, decoder.info);
  check_picture_size(source, width, height);
  check_plausible(source, decoder);
  return {width, height};
}

void read_pixels(PngDecoder& decoder, const PictureSource& source, void (*prepare)(png_structp),
                 std::vector<uint8_t>& pixels, int64_t height) {
  const size_t row_bytes = pixels.size() / static_cast<size_t>(height);
  if (!read_png_rows(decoder, prepare, pixels.data(), row_bytes,
                     static_cast<png_uint_32>(height))) {
    fail_corrupt(source, "PNG", decoder.error);
  }
}

}  // namespace

DecodedPicture read_png(const PictureSource& source) {
  PngDecoder decoder(source.bytes);
  const PictureSize size = open(decoder, source);
  DecodedPicture decoded{.picture = Picture(size.width, size.height)};
  read_pixels(decoder, source, as_rgb, decoded.picture.bytes, size.height);
  png_uint_32 exif_bytes = 0;
  png_bytep exif = nullptr;
  if (png_get_eXIf_1(decoder.reader, decoder.info, &exif_bytes, &exif) != 0) {
    decoded.orientation = exif_orientation({reinterpret_cast<const std::byte*>(exif), exif_bytes});
  }
  return decoded;
}

LabelMask read_png_labels(const PictureSource& source) {
  PngDecoder decoder(source.bytes);
  const PictureSize size = open(decoder, source);
  const png_byte type = png_get_color_type(decoder.reader, decoder.info);
  const png_byte bits = png_get_bit_depth(decoder.reader, decoder.info);
  const bool palette = type == PNG_COLOR_TYPE_PALETTE;
  if ((!palette && (type & PNG_COLOR_MASK_COLOR) != 0) || bits > 8) {
    fail(ErrorKind::kBadFile,
         "{}: has {} of {} bits but pixels of a mask are object numbers; save it as 8-bit grey",
         source.name, palette || (type & PNG_COLOR_MASK_COLOR) == 0 ? "grey levels" : "colours",
         bits);
  }
  LabelMask mask(size);
  read_pixels(decoder, source, as_numbers, mask.labels, size.height);
  return mask;
}

}  // namespace fovea
