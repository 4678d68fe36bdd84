#include "fovea/capture/site.h"

#include <fmt/ranges.h>

#include <array>
#include <charconv>

#include "fovea/base/error.h"

namespace fovea {
namespace {

constexpr std::array<std::string_view, 8> kNames{"self",  "encoder_self", "decoder_self",
                                                 "cross", "vision.self",  "text.self",
                                                 "pool",  "panoptic"};

}  // namespace

std::string to_string(SiteId site) {
  return fmt::format("{}.{}", kNames[static_cast<size_t>(site.kind)], site.layer);
}

SiteId parse_site(std::string_view name) {
  const size_t dot = name.rfind('.');
  const std::string_view kind = name.substr(0, dot);
  const std::string_view digits = dot == std::string_view::npos ? "" : name.substr(dot + 1);
  SiteId site;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), site.layer);
  const bool number =
      error == std::errc() && end == digits.data() + digits.size() && !digits.empty();
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == kind && number && site.layer >= 0) {
      site.kind = static_cast<SiteKind>(i);
      return site;
    }
  }
  fail(ErrorKind::kInvalidArgument,
       "'{}' is no attention site; write KIND.LAYER with a layer from 0 and a kind of: {}", name,
       fmt::join(kNames, ", "));
}

}  // namespace fovea
