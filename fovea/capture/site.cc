#include "fovea/capture/site.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

#include "fovea/base/error.h"
#include "fovea/base/suggest.h"

namespace fovea {
namespace {

constexpr std::array<SiteName, 8> kSiteNames{{
    {SiteKind::kSelf, "self", "self", "self-attention"},
    {SiteKind::kEncoderSelf, "encoder_self", "encoder", "encoder self-attention"},
    {SiteKind::kDecoderSelf, "decoder_self", "decoder", "decoder self-attention"},
    {SiteKind::kCross, "cross", "cross", "cross-attention"},
    {SiteKind::kVisionSelf, "vision.self", "vision", "vision self-attention"},
    {SiteKind::kTextSelf, "text.self", "text", "text self-attention"},
    {SiteKind::kPool, "pool", "pool", "attention pooling"},
    {SiteKind::kPanoptic, "panoptic", "panoptic", "mask attention"},
}};

constexpr bool in_order() {
  for (size_t i = 0; i < kSiteNames.size(); ++i) {
    if (kSiteNames[i].kind != static_cast<SiteKind>(i)) return false;
  }
  return true;
}
static_assert(in_order(), "an entry is found by its kind's number");

const SiteName& entry_of(SiteKind kind) {
  return kSiteNames[static_cast<size_t>(kind)];
}

}  // namespace

std::span<const SiteName> site_names() {
  return kSiteNames;
}

std::string_view to_string(SiteKind kind) {
  return entry_of(kind).name;
}

std::string_view alias_of(SiteKind kind) {
  return entry_of(kind).alias;
}

std::string_view name_of(SiteKind kind) {
  return entry_of(kind).words;
}

SiteKind parse_site_kind(std::string_view name) {
  std::vector<std::string> known;
  for (const SiteName& site : kSiteNames) {
    if (name == site.name || name == site.alias) return site.kind;
    known.emplace_back(site.name);
    if (site.alias != site.name) known.emplace_back(site.alias);
  }
  fail(ErrorKind::kInvalidArgument, Field{"site"}, "'{}' is no kind of attention; there are {}{}",
       name, fmt::join(known, ", "), did_you_mean(name, known));
}

std::string to_string(SiteId site) {
  return fmt::format("{}.{}", to_string(site.kind), site.layer);
}

std::optional<SiteId> find_site(std::string_view name) {
  const size_t dot = name.rfind('.');
  const std::string_view digits = dot == std::string_view::npos ? "" : name.substr(dot + 1);
  SiteId site;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), site.layer);
  const bool number =
      error == std::errc() && end == digits.data() + digits.size() && !digits.empty();
  const auto* found = std::ranges::find(kSiteNames, name.substr(0, dot), &SiteName::name);
  if (found == kSiteNames.end() || !number || site.layer < 0) return {};
  site.kind = found->kind;
  return site;
}

SiteId parse_site(std::string_view name) {
  if (const auto site = find_site(name)) return *site;
  std::vector<std::string_view> names;
  for (const SiteName& known : kSiteNames) names.push_back(known.name);
  fail(ErrorKind::kInvalidArgument,
       "'{}' is no attention site; write KIND.LAYER with a layer from 0 and a kind of: {}", name,
       fmt::join(names, ", "));
}

}  // namespace fovea
