#include "fovea/text/languages.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/text/json_fields.h"
#include "fovea/text/tokenizer.h"
#include "fovea/text/tokenizer_parts.h"

namespace fovea {
namespace {

// The first 25 are mBART's, all of them mBART-50's; the order gives the ids.
constexpr std::string_view kMbart =
    "ar_AR cs_CZ de_DE en_XX es_XX et_EE fi_FI fr_XX gu_IN hi_IN it_IT ja_XX kk_KZ ko_KR lt_LT "
    "lv_LV my_MM ne_NP nl_XX ro_RO ru_RU si_LK tr_TR vi_VN zh_CN af_ZA az_AZ bn_IN fa_IR he_IL "
    "hr_HR id_ID ka_GE km_KH mk_MK ml_IN mn_MN mr_IN pl_PL ps_AF pt_XX sv_SE sw_KE ta_IN te_IN "
    "th_TH tl_XX uk_UA ur_PK xh_ZA gl_ES sl_SI";
constexpr size_t kMbart25 = 25;
constexpr std::string_view kM2m100 =
    "af am ar ast az ba be bg bn br bs ca ceb cs cy da de el en es et fa ff fi fr fy ga gd gl gu "
    "ha he hi hr ht hu hy id ig ilo is it ja jv ka kk km kn ko lb lg ln lo lt lv mg mk ml mn mr ms "
    "my ne nl no ns oc or pa pl ps pt ro ru sd si sk sl so sq sr ss su sv sw ta th tl tn tr uk ur "
    "uz vi wo xh yi yo zh zu";
constexpr std::string_view kWmt21 = "en ha is ja cs ru zh de";

struct Family {
  std::string_view name;
  std::string_view before;
  std::string_view after;
  std::string_view shape;  // of a code: a and A for letters; empty: any
  std::string_view first;  // the language if no other is named
};
constexpr Family kFamilies[] = {
    {"MBart", "", "", "aa_AA", "en_XX"},      {"MBart50", "", "", "aa_AA", "en_XX"},
    {"Nllb", "", "", "aaa_Aaaa", "eng_Latn"}, {"M2M100", "__", "__", "aa", "en"},
    {"Marian", ">>", "<<", "", ""},           {"Whisper", "<|", "|>", "aa", ""},
};

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

bool has_shape(std::string_view code, std::string_view shape) {
  if (shape.empty()) return !code.empty();
  std::string found;
  for (const char c : code) {
    found += c >= 'a' && c <= 'z' ? 'a' : c >= 'A' && c <= 'Z' ? 'A' : c;
  }
  return found == shape || (shape == "aa" && found == "aaa");
}

std::vector<std::string> codes_in(const Tokenizer::Parts& parts, const Family& family) {
  std::vector<std::string> codes;
  const auto offer = [&](std::string_view token) {
    if (token.size() <= family.before.size() + family.after.size() ||
        !token.starts_with(family.before) || !token.ends_with(family.after)) {
      return;
    }
    token.remove_prefix(family.before.size());
    token.remove_suffix(family.after.size());
    if (has_shape(token, family.shape)) codes.emplace_back(token);
  };
  if (family.name == "Marian") {
    const Vocabulary& vocabulary = parts.model->vocabulary();
    for (int32_t id = 0; id < vocabulary.end_id(); ++id) offer(vocabulary.token(id));
  } else {
    for (const auto& [id, token] : parts.added.all()) offer(token.content);
  }
  return codes;
}

// Sets where the family puts its tokens.
void place_tokens(LanguageTokens& languages, std::string_view family, const Json& config,
                  std::string_view source) {
  const bool at_end = family == "MBart" ||
                      (family == "Nllb" && bool_field(config, "legacy_behaviour", false, source));
  if (family == "Whisper") {
    languages.prefix = {"<|startoftranscript|>", ""};
    const std::string task = string_field(config, "task", "", source);
    if (!task.empty()) languages.prefix.push_back("<|" + task + "|>");
    if (!bool_field(config, "predict_timestamps", false, source)) {
      languages.prefix.push_back("<|notimestamps|>");
    }
    languages.suffix = {"<|endoftext|>"};
  } else if (at_end) {
    languages.suffix = {"</s>", ""};
  } else {
    languages.prefix = {""};
    languages.suffix = {"</s>"};
  }
}

Tokenizer made_with(const Tokenizer& tokenizer, LanguageTokens languages, std::string_view source) {
  const auto found = [&](const std::vector<std::string>& names) {
    std::vector<Surroundings::Token> tokens;
    for (const std::string& name : names) {
      if (name.empty() && languages.current.empty()) continue;
      const std::string text = name.empty() ? languages.token_of(languages.current) : name;
      const auto id = tokenizer.find(text);
      if (!id) fail(ErrorKind::kBadFile, "{}: the vocabulary lacks '{}'", source, text);
      tokens.push_back({text, *id});
    }
    return tokens;
  };
  Tokenizer::Parts parts = tokenizer.parts();
  parts.post_processor =
      make_surrounding({.before = found(languages.prefix), .after = found(languages.suffix)});
  parts.languages = std::move(languages);
  return make_tokenizer(std::move(parts));
}

// The code meant by `name`: itself, its token, or the only one that begins with it and "_".
std::string code_named(const LanguageTokens& languages, std::string_view name) {
  if (languages.codes.empty()) {
    fail(ErrorKind::kUnsupported, "the language '{}' is asked for, but this tokenizer has none",
         name);
  }
  std::vector<std::string> near;
  for (const std::string& code : languages.codes) {
    if (code == name || languages.token_of(code) == name) return code;
    if (code.starts_with(std::string(name) + "_")) near.push_back(code);
  }
  if (near.size() == 1) return near[0];
  if (near.empty()) near = languages.codes;
  std::string few;
  constexpr size_t kFew = 12;
  for (size_t i = 0; i < std::min(near.size(), kFew); ++i) few += (i > 0 ? ", " : "") + near[i];
  fail(ErrorKind::kInvalidArgument, "the language '{}' is none of the {} that it knows: {}{}", name,
       near.size(), few, near.size() > kFew ? ", …" : "");
}

}  // namespace

std::vector<std::string> known_languages(std::string_view family, const Json& config) {
  if (family == "M2M100") {
    const std::string set = string_field(config, "language_codes", "m2m100", "language_codes");
    return words_of(set == "wmt21" ? kWmt21 : kM2m100);
  }
  std::vector<std::string> codes;
  if (family == "MBart" || family == "MBart50") codes = words_of(kMbart);
  if (family == "MBart") codes.resize(kMbart25);
  return codes;
}

Tokenizer with_languages_of(const Tokenizer& tokenizer, std::string_view family_name,
                            const Json& config, std::string_view source) {
  const Family* family = std::find_if(std::begin(kFamilies), std::end(kFamilies),
                                      [&](const Family& each) { return each.name == family_name; });
  if (family == std::end(kFamilies)) return tokenizer;
  LanguageTokens languages{.before = std::string(family->before),
                           .after = std::string(family->after)};
  languages.codes = codes_in(tokenizer.parts(), *family);
  const bool is_whisper = family_name == "Whisper" && tokenizer.find("<|startoftranscript|>");
  if (languages.codes.empty() && !is_whisper) return tokenizer;
  place_tokens(languages, family_name, config, source);
  const auto is_known = [&](const std::string& code) {
    return std::find(languages.codes.begin(), languages.codes.end(), code) != languages.codes.end();
  };
  if (is_whisper) {  // may be named in words there, which is left aside
    const std::string named = string_field(config, "language", "", source);
    if (is_known(named)) languages.current = named;
  } else if (family_name != "Marian") {
    const std::string named = string_field(config, "src_lang", "", source);
    if (!named.empty() && !is_known(named)) {
      fail(ErrorKind::kBadFile, "{}: src_lang is '{}', which is no language of the vocabulary",
           source, named);
    }
    const std::string first = named.empty() ? std::string(family->first) : named;
    if (is_known(first)) languages.current = first;
  }
  return made_with(tokenizer, std::move(languages), source);
}

Tokenizer with_target_language(const Tokenizer& tokenizer, const Json& config,
                               std::string_view source) {
  const std::string named = string_field(config, "tgt_lang", "", source);
  if (named.empty() || tokenizer.languages().empty()) return tokenizer;
  return tokenizer.with_language(named);
}

std::vector<std::string> Tokenizer::languages() const {
  return parts_->languages.codes;
}

std::string Tokenizer::language() const {
  return parts_->languages.current;
}

int32_t Tokenizer::language_id(std::string_view code) const {
  const LanguageTokens& languages = parts_->languages;
  return find(languages.token_of(code_named(languages, code))).value_or(0);
}

Tokenizer Tokenizer::with_language(std::string_view code) const {
  LanguageTokens languages = parts_->languages;
  languages.current = code_named(languages, code);
  return made_with(*this, std::move(languages), "tokenizer");
}

}  // namespace fovea
