// WebP, read with libwebp: lossy and lossless; of an animation the first frame.
#include <webp/decode.h>
#include <webp/demux.h>

#include <memory>

#include "fovea/vision/exif.h"
#include "fovea/vision/picture_reader.h"

namespace fovea {
namespace {

class Demuxer {
 public:
  explicit Demuxer(const PictureSource& source)
      : data_{source.data(), source.size()}, demuxer_(WebPDemux(&data_)) {
    if (demuxer_ == nullptr) fail_corrupt(source, "WebP", "its parts are not whole");
  }
  Demuxer(const Demuxer&) = delete;
  Demuxer& operator=(const Demuxer&) = delete;
  ~Demuxer() { WebPDemuxDelete(demuxer_); }

  int64_t get(WebPFormatFeature feature) const { return WebPDemuxGetI(demuxer_, feature); }
  const WebPDemuxer* raw() const { return demuxer_; }

 private:
  WebPData data_;
  WebPDemuxer* demuxer_;
};

Orientation webp_orientation(const Demuxer& demuxer) {
  WebPChunkIterator chunk{};
  Orientation orientation = Orientation::kUpright;
  if (WebPDemuxGetChunk(demuxer.raw(), "EXIF", 1, &chunk) != 0) {
    orientation =
        exif_orientation({reinterpret_cast<const std::byte*>(chunk.chunk.bytes), chunk.chunk.size});
  }
  WebPDemuxReleaseChunkIterator(&chunk);
  return orientation;
}

}  // namespace

DecodedPicture read_webp(const PictureSource& source) {
  const Demuxer demuxer(source);
  const int64_t width = demuxer.get(WEBP_FF_CANVAS_WIDTH);
  const int64_t height = demuxer.get(WEBP_FF_CANVAS_HEIGHT);
  check_picture_size(source, width, height);

  WebPIterator frame{};
  const std::unique_ptr<WebPIterator, decltype(&WebPDemuxReleaseIterator)> release(
      &frame, &WebPDemuxReleaseIterator);
  if (WebPDemuxGetFrame(demuxer.raw(), 1, &frame) == 0 || frame.complete == 0) {
    fail_corrupt(source, "WebP", "it has no whole frame");
  }
  // A first frame may be smaller than the canvas; what it leaves is transparent black.
  if (frame.x_offset < 0 || frame.y_offset < 0 || frame.width < 1 || frame.height < 1 ||
      frame.x_offset + frame.width > width || frame.y_offset + frame.height > height) {
    fail_corrupt(source, "WebP", "a frame lies outside of the picture");
  }
  DecodedPicture decoded{.picture = Picture(width, height),
                         .orientation = webp_orientation(demuxer)};
  uint8_t* target = decoded.picture.row(frame.y_offset) + int64_t{frame.x_offset} * 3;
  const int64_t room =
      decoded.picture.bytes.data() + static_cast<int64_t>(decoded.picture.bytes.size()) - target;
  if (WebPDecodeRGBInto(frame.fragment.bytes, frame.fragment.size, target,
                        static_cast<size_t>(room), static_cast<int>(width * 3)) == nullptr) {
    fail_corrupt(source, "WebP", "its pixels do not decode");
  }
  return decoded;
}

}  // namespace fovea
