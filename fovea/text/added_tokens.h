// Tokens that are cut out of a text before its model sees it: special tokens and those added later.
#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "fovea/text/aligned_text.h"
#include "fovea/text/normalizer.h"
#include "fovea/text/token_model.h"

namespace fovea {

struct AddedToken {
  std::string content;
  bool special = false;
  bool single_word = false;  // not inside a longer word
  bool lstrip = false;       // takes the white space before it
  bool rstrip = false;       // takes the white space after it
  bool normalized = true;    // looked for after normalization
  int32_t id = -1;           // -1: AddedTokens gives it one
};

AddedToken parse_added_token(const Json& json, std::string_view where);

class AddedTokens {
 public:
  // One that the model knows keeps the model's id; another has its own or gets the next free one.
  void add(std::vector<AddedToken> tokens, const TokenModel& model, const Normalizer* normalizer);

  struct Part {
    ByteSpan span;
    const AddedToken* token;  // null: ordinary text
  };
  // The whole text in order. `normalized` says which of the tokens to look for.
  std::vector<Part> find(std::string_view text, bool normalized) const;

  const AddedToken* by_id(int32_t id) const;
  const AddedToken* by_content(std::string_view content) const;
  const std::map<int32_t, AddedToken>& all() const { return tokens_; }  // by id
  int32_t end_id() const { return end_id_; }
  bool has(bool normalized) const { return !(normalized ? after_ : before_).patterns.empty(); }

 private:
  struct Matcher {
    std::vector<std::pair<std::string, int32_t>> patterns;  // longest first; id
    std::array<std::vector<uint32_t>, 256> by_first;
    void build();
    const std::pair<std::string, int32_t>* match_at(std::string_view text, size_t at) const;
  };
  std::map<int32_t, AddedToken> tokens_;
  std::unordered_map<std::string, int32_t> ids_;
  Matcher before_;
  Matcher after_;
  int32_t end_id_ = 0;
};

}  // namespace fovea
