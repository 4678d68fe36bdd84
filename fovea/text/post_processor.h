// Post-processors of tokenizer.json: which special tokens go around a text and a pair.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/base/json.h"
#include "fovea/text/encoding.h"

namespace fovea {

class PostProcessor {
 public:
  virtual ~PostProcessor() = default;
  // `parts` are the text and perhaps the pair; afterwards they are what is to be put one behind the
  // other. `sources` are the texts. May be called from any thread.
  virtual void process(std::vector<Encoding>& parts, std::span<const std::string_view> sources,
                       bool add_special) const = 0;
};

// The tokens before a text, between it and its pair, and behind the last of them.
struct Surroundings {
  struct Token {
    std::string text;
    int32_t id;
  };
  std::vector<Token> before;
  std::vector<Token> between;
  std::vector<Token> after;
};
std::shared_ptr<const PostProcessor> make_surrounding(const Surroundings& tokens);

std::shared_ptr<const PostProcessor> make_post_processor(const Json& json, std::string_view where);

}  // namespace fovea
