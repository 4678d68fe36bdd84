#include "fovea/vision/picture_format.h"

#include <algorithm>
#include <array>

#include "fovea/base/error.h"
#include "fovea/base/parse.h"

namespace fovea {
namespace {

struct Magic {
  size_t offset;
  std::string_view bytes;
  std::string_view name;
};

// Formats that exist and that we do not read; the first that fits is named.
constexpr std::array<Magic, 24> kOthers{{
    {0, "GIF8", "a GIF"},
    {0, "BM", "a BMP"},
    {0, std::string_view("II*\0", 4), "a TIFF or camera raw file"},
    {0, std::string_view("MM\0*", 4), "a TIFF or camera raw file"},
    {4, "ftypavif", "an AVIF"},
    {4, "ftypavis", "an AVIF"},
    {4, "ftyphei", "a HEIC photograph"},
    {4, "ftyphev", "a HEIC photograph"},
    {4, "ftypmif1", "a HEIF photograph"},
    {4, "ftypmsf1", "a HEIF photograph"},
    {4, "ftyp", "a video"},
    {0, "%PDF-", "a PDF"},
    {0, "8BPS", "a Photoshop file"},
    {0, std::string_view("\0\0\1\0", 4), "an icon (ICO)"},
    {0, std::string_view("\0\0\0\x0cJXL ", 8), "a JPEG XL"},
    {0, "\xff\x0a", "a JPEG XL"},
    {0, std::string_view("\0\0\0\x0cjP  ", 8), "a JPEG 2000"},
    {0, "\xff\x4f\xff\x51", "a JPEG 2000"},
    {0, "P1", "a PBM"},
    {0, "P4", "a PBM"},
    {0, "P7", "a PAM"},
    {0, "Pf", "a PFM"},
    {0, "PF", "a PFM"},
    {0, "#?RADIANCE", "a Radiance HDR"},
}};

bool has(std::string_view text, const Magic& magic) {
  return text.size() >= magic.offset && text.substr(magic.offset).starts_with(magic.bytes);
}

bool looks_like_svg(std::string_view text) {
  const std::string_view head = text.substr(0, 1024);
  return head.find("<svg") != std::string_view::npos;
}

bool looks_like_text(std::string_view text) {
  return std::ranges::all_of(text.substr(0, 512), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 || kBlanks.find(c) != std::string_view::npos;
  });
}

}  // namespace

PictureFormat picture_format(Bytes bytes) {
  const std::string_view text = as_text(bytes);
  if (text.starts_with("\x89PNG\r\n\x1a\n")) return PictureFormat::kPng;
  if (text.starts_with("\xff\xd8\xff")) return PictureFormat::kJpeg;
  if (text.starts_with("RIFF") && text.size() >= 12 && text.substr(8, 4) == "WEBP") {
    return PictureFormat::kWebp;
  }
  if (text.size() >= 3 && text[0] == 'P' && std::string_view("2356").find(text[1]) < 4 &&
      (kBlanks.find(text[2]) != std::string_view::npos || text[2] == '#')) {
    return PictureFormat::kPnm;
  }
  return PictureFormat::kOther;
}

bool has_readable_suffix(const std::filesystem::path& path) {
  constexpr std::array kSuffixes{".png", ".jpg", ".jpeg", ".webp", ".ppm", ".pgm", ".pnm"};
  return std::ranges::count(kSuffixes, lower_suffix(path)) > 0;
}

void refuse_picture(Bytes bytes, std::string_view source) {
  constexpr std::string_view kRead = "PNG, JPEG, WebP, PPM and PGM";
  const std::string_view text = as_text(bytes);
  if (text.empty()) {
    fail(ErrorKind::kBadFile, "{}: is empty, 0 bytes; a picture is needed: {} are read", source,
         kRead);
  }
  std::string_view name;
  if (const auto* found =
          std::ranges::find_if(kOthers, [&](const Magic& magic) { return has(text, magic); });
      found != kOthers.end() && !(found->bytes.size() == 2 && looks_like_text(text))) {
    name = found->name;
  } else if (looks_like_svg(text)) {
    name = "an SVG drawing";
  }
  if (!name.empty()) {
    fail(ErrorKind::kUnsupported, "{}: is {}, but only {} are read; save it as PNG", source, name,
         kRead);
  }
  fail(ErrorKind::kBadFile, "{}: is {} of {} bytes, not a picture; {} are read", source,
       looks_like_text(text) ? "a text" : "a file of an unknown kind", text.size(), kRead);
}

}  // namespace fovea
