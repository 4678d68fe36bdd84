// Decoders of tokenizer.json: how tokens become text again.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/base/json.h"

namespace fovea {

class Decoder {
 public:
  virtual ~Decoder() = default;
  // May be called from any thread.
  virtual std::vector<std::string> apply(std::vector<std::string> tokens) const = 0;
};

std::shared_ptr<const Decoder> make_decoder(const Json& json, std::string_view where);

}  // namespace fovea
