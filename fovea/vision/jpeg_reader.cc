// JPEG, read with libjpeg-turbo.
#include <array>
#include <csetjmp>
#include <cstdio>
#include <vector>

// After <cstdio>, which it needs.
#include <jpeglib.h>
// After jpeglib.h.
#include <jerror.h>

#include "fovea/base/error.h"
#include "fovea/vision/exif.h"
#include "fovea/vision/picture_reader.h"

namespace fovea {
namespace {

// A scan may be a few bytes but costs a pass over the whole picture; real files have about ten.
constexpr int kMostScans = 100;

struct JpegDecoder {
  jpeg_decompress_struct info{};
  jpeg_error_mgr errors{};
  jpeg_progress_mgr progress{};
  std::jmp_buf jump{};
  char error[JMSG_LENGTH_MAX] = "";

  JpegDecoder() = default;
  JpegDecoder(const JpegDecoder&) = delete;
  JpegDecoder& operator=(const JpegDecoder&) = delete;
  ~JpegDecoder() { jpeg_destroy_decompress(&info); }
};

// libjpeg is C: no exception may pass through it, so an error ends in a long jump.
[[noreturn]] void on_jpeg_error(j_common_ptr info) {
  auto* decoder = static_cast<JpegDecoder*>(info->client_data);
  info->err->format_message(info, decoder->error);
  std::longjmp(decoder->jump, 1);
}

// libjpeg only warns where pixels are missing or wrong, and fills up with grey.
void on_message(j_common_ptr info, int level) {
  if (level >= 0) return;  // a trace
  constexpr std::array kLossOfPixels = {JWRN_JPEG_EOF,      JWRN_HIT_MARKER,
                                        JWRN_HUFF_BAD_CODE, JWRN_ARITH_BAD_CODE,
                                        JWRN_MUST_RESYNC,   JWRN_BOGUS_PROGRESSION};
  for (const int code : kLossOfPixels) {
    if (info->err->msg_code == code) on_jpeg_error(info);
  }
}

void on_progress(j_common_ptr info) {
  if (reinterpret_cast<j_decompress_ptr>(info)->input_scan_number <= kMostScans) return;
  auto* decoder = static_cast<JpegDecoder*>(info->client_data);
  std::snprintf(decoder->error, sizeof decoder->error, "more than %d scans", kMostScans);
  std::longjmp(decoder->jump, 1);
}

void set_up(JpegDecoder& decoder) {
  decoder.info.err = jpeg_std_error(&decoder.errors);
  decoder.errors.error_exit = on_jpeg_error;
  decoder.errors.emit_message = on_message;
  decoder.errors.output_message = [](j_common_ptr) {};
  decoder.progress.progress_monitor = on_progress;
  decoder.info.client_data = &decoder;
}

// Only plain values live in the frames that call setjmp: a long jump skips destructors.
bool read_jpeg_header(JpegDecoder& decoder, const uint8_t* data, size_t size) {
  if (setjmp(decoder.jump) != 0) return false;
  jpeg_create_decompress(&decoder.info);
  decoder.info.progress = &decoder.progress;
  jpeg_mem_src(&decoder.info, data, static_cast<unsigned long>(size));  // NOLINT: libjpeg's type
  jpeg_save_markers(&decoder.info, JPEG_APP0 + 1, 0xFFFF);
  jpeg_read_header(&decoder.info, TRUE);
  return true;
}

// As many samples a pixel as `info.out_color_components` says.
bool read_jpeg_rows(JpegDecoder& decoder, uint8_t* pixels, size_t row_bytes) {
  if (setjmp(decoder.jump) != 0) return false;
  jpeg_start_decompress(&decoder.info);
  while (decoder.info.output_scanline < decoder.info.output_height) {
    JSAMPROW row = pixels + decoder.info.output_scanline * row_bytes;
    jpeg_read_scanlines(&decoder.info, &row, 1);
  }
  jpeg_finish_decompress(&decoder.info);
  return true;
}

Orientation jpeg_orientation(const jpeg_decompress_struct& info) {
  constexpr std::string_view kExif("Exif\0\0", 6);
  for (const auto* marker = info.marker_list; marker != nullptr; marker = marker->next) {
    const Bytes bytes{reinterpret_cast<const std::byte*>(marker->data), marker->data_length};
    if (as_text(bytes).starts_with(kExif)) return exif_orientation(bytes);
  }
  return Orientation::kUpright;
}

// CMYK files hold their inks inverted, as Adobe writes them; black takes from each colour, rounded
// as Pillow rounds.
Picture from_inverted_cmyk(const std::vector<uint8_t>& inks, int64_t width, int64_t height) {
  Picture picture(width, height);
  const uint8_t* ink = inks.data();
  for (size_t i = 0; i < picture.bytes.size(); i += 3, ink += 4) {
    const int light = ink[3];  // 255 - black
    for (size_t channel = 0; channel < 3; ++channel) {
      const int product = (255 - ink[channel]) * light + 128;
      picture.bytes[i + channel] = static_cast<uint8_t>(light - (((product >> 8) + product) >> 8));
    }
  }
  return picture;
}

}  // namespace

DecodedPicture read_jpeg(const PictureSource& source) {
  JpegDecoder decoder;
  set_up(decoder);
  if (!read_jpeg_header(decoder, source.data(), source.size())) {
    fail_corrupt(source, "JPEG", decoder.error);
  }
  const auto width = static_cast<int64_t>(decoder.info.image_width);
  const auto height = static_cast<int64_t>(decoder.info.image_height);
  check_picture_size(source, width, height);
  const bool cmyk = decoder.info.num_components == 4;
  decoder.info.out_color_space = cmyk ? JCS_CMYK : JCS_RGB;

  DecodedPicture decoded{.orientation = jpeg_orientation(decoder.info)};
  if (cmyk) {
    std::vector<uint8_t> inks(static_cast<size_t>(width * height * 4));
    if (!read_jpeg_rows(decoder, inks.data(), static_cast<size_t>(width * 4))) {
      fail_corrupt(source, "JPEG", decoder.error);
    }
    decoded.picture = from_inverted_cmyk(inks, width, height);
    return decoded;
  }
  decoded.picture = Picture(width, height);
  if (!read_jpeg_rows(decoder, decoded.picture.bytes.data(), static_cast<size_t>(width * 3))) {
    fail_corrupt(source, "JPEG", decoder.error);
  }
  return decoded;
}

}  // namespace fovea
