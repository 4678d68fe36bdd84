// A place where a model attends: the kind of attention, and the layer. Also the names of all kinds.
#pragma once

#include <compare>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace fovea {

enum class SiteKind {
  kSelf,         // one-stack models
  kEncoderSelf,  // encoder-decoder models
  kDecoderSelf,
  kCross,
  kVisionSelf,  // two-tower models
  kTextSelf,
  kPool,      // an attention-pooling head
  kPanoptic,  // DETR's mask head: all heads of a row share one softmax, and one LSE
};

// All names of a kind.
struct SiteName {
  SiteKind kind = SiteKind::kSelf;
  std::string_view name;   // "encoder_self": in files and answers
  std::string_view alias;  // "encoder": shorter, for typing; a short name is its own alias
  std::string_view words;  // "encoder self-attention": in captions and messages
};
// The names of all kinds, in the order of SiteKind.
std::span<const SiteName> site_names();

std::string_view to_string(SiteKind kind);  // the name
std::string_view alias_of(SiteKind kind);
std::string_view name_of(SiteKind kind);  // the words
// Finds a kind by its name or alias. Throws Error{kInvalidArgument} that lists both.
SiteKind parse_site_kind(std::string_view name);

struct SiteId {
  SiteKind kind = SiteKind::kSelf;
  int layer = 0;

  auto operator<=>(const SiteId&) const = default;
};

// "self.3", "encoder_self.0", "cross.5", "vision.self.11", ...: the names of exported tensors.
std::string to_string(SiteId site);
// Its inverse; none for a name that is no site's.
std::optional<SiteId> find_site(std::string_view name);
// The same. Throws Error{kInvalidArgument} that lists the kinds.
SiteId parse_site(std::string_view name);

}  // namespace fovea
