// A place where a model attends: which kind of attention, in which layer.
#pragma once

#include <compare>
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

struct SiteId {
  SiteKind kind = SiteKind::kSelf;
  int layer = 0;

  auto operator<=>(const SiteId&) const = default;
};

// "self.3", "encoder_self.0", "cross.5", "vision.self.11", ...: the names of exported tensors.
std::string to_string(SiteId site);
// Throws Error{kInvalidArgument} that lists the kinds.
SiteId parse_site(std::string_view name);

}  // namespace fovea
