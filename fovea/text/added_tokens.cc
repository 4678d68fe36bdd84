#include "fovea/text/added_tokens.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/text/json_fields.h"
#include "fovea/text/unicode.h"

namespace fovea {
namespace {

Character character_before(std::string_view text, size_t end) {
  size_t begin = end - 1;
  while (begin > 0 && is_continuation(text[begin])) --begin;
  return character_at(text, begin);
}

bool stands_alone(std::string_view text, size_t begin, size_t end) {
  if (begin > 0 && is_word_character(character_before(text, begin).code)) return false;
  return end == text.size() || !is_word_character(character_at(text, end).code);
}

size_t skip_space_back(std::string_view text, size_t at) {
  while (at > 0) {
    const Character character = character_before(text, at);
    if (!is_white_space(character.code)) break;
    at -= character.bytes;
  }
  return at;
}

size_t skip_space(std::string_view text, size_t at) {
  while (at < text.size()) {
    const Character character = character_at(text, at);
    if (!is_white_space(character.code)) break;
    at += character.bytes;
  }
  return at;
}

}  // namespace

AddedToken parse_added_token(const Json& json, std::string_view where) {
  AddedToken token;
  token.content = string_field(json, "content", where);
  token.special = bool_field(json, "special", false, where);
  token.single_word = bool_field(json, "single_word", false, where);
  token.lstrip = bool_field(json, "lstrip", false, where);
  token.rstrip = bool_field(json, "rstrip", false, where);
  token.normalized = bool_field(json, "normalized", !token.special, where);
  return token;
}

void AddedTokens::Matcher::build() {
  std::stable_sort(patterns.begin(), patterns.end(),
                   [](const auto& a, const auto& b) { return a.first.size() > b.first.size(); });
  for (auto& list : by_first) list.clear();
  for (uint32_t i = 0; i < patterns.size(); ++i) {
    if (patterns[i].first.empty()) continue;
    by_first[static_cast<unsigned char>(patterns[i].first[0])].push_back(i);
  }
}

const std::pair<std::string, int32_t>* AddedTokens::Matcher::match_at(std::string_view text,
                                                                      size_t at) const {
  for (const uint32_t i : by_first[static_cast<unsigned char>(text[at])]) {
    if (text.substr(at).starts_with(patterns[i].first)) return &patterns[i];
  }
  return nullptr;
}

void AddedTokens::add(std::vector<AddedToken> tokens, const TokenModel& model,
                      const Normalizer* normalizer) {
  const auto model_size = static_cast<int32_t>(model.vocabulary().size());
  for (AddedToken& token : tokens) {
    if (token.content.empty()) continue;
    if (const auto known = ids_.find(token.content); known != ids_.end()) {
      token.id = known->second;
    } else if (const auto id = model.vocabulary().find(token.content)) {
      token.id = *id;
    } else if (token.id < 0) {
      int32_t largest = -1;
      for (const auto& [content, added] : ids_) largest = std::max(largest, added);
      token.id = std::max(largest + 1, model_size);
      if (token.id > kLargestTokenId) fail(ErrorKind::kUnsupported, "too many added tokens");
    }
    ids_[token.content] = token.id;
    tokens_[token.id] = token;
    end_id_ = std::max(end_id_, token.id + 1);
  }
  before_.patterns.clear();
  after_.patterns.clear();
  for (const auto& [id, token] : tokens_) {
    if (!token.normalized) {
      before_.patterns.emplace_back(token.content, id);
      continue;
    }
    AlignedText content(token.content);
    if (normalizer != nullptr) normalizer->apply(content);
    after_.patterns.emplace_back(content.text(), id);
  }
  before_.build();
  after_.build();
}

std::vector<AddedTokens::Part> AddedTokens::find(std::string_view text, bool normalized) const {
  const Matcher& matcher = normalized ? after_ : before_;
  std::vector<Part> parts;
  size_t covered = 0;
  const auto add = [&](size_t begin, size_t end, const AddedToken* token) {
    parts.push_back({{static_cast<uint32_t>(begin), static_cast<uint32_t>(end)}, token});
  };
  for (size_t at = 0; at < text.size() && !matcher.patterns.empty();) {
    if (matcher.by_first[static_cast<unsigned char>(text[at])].empty()) {
      ++at;
      continue;
    }
    const auto* found = matcher.match_at(text, at);
    if (found == nullptr) {
      ++at;
      continue;
    }
    size_t begin = at;
    size_t end = at + found->first.size();
    at = end;
    const AddedToken& token = tokens_.at(found->second);
    if (begin < covered || (token.single_word && !stands_alone(text, begin, end))) continue;
    if (token.lstrip) begin = std::max(skip_space_back(text, begin), covered);
    if (token.rstrip) end = skip_space(text, end);
    if (covered < begin) add(covered, begin, nullptr);
    add(begin, end, &token);
    covered = end;
  }
  if (covered < text.size()) add(covered, text.size(), nullptr);
  return parts;
}

const AddedToken* AddedTokens::by_id(int32_t id) const {
  const auto found = tokens_.find(id);
  return found == tokens_.end() ? nullptr : &found->second;
}

const AddedToken* AddedTokens::by_content(std::string_view content) const {
  const auto found = ids_.find(std::string(content));
  return found == ids_.end() ? nullptr : by_id(found->second);
}

}  // namespace fovea
