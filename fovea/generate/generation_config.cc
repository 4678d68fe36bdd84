#include "fovea/generate/generation_config.h"

#include <algorithm>
#include <limits>
#include <string_view>

#include "fovea/base/error.h"
#include "fovea/base/file.h"

namespace fovea {
namespace {

constexpr int64_t kLargest = std::numeric_limits<int32_t>::max();

// Reads checked values of one file.
class Reader {
 public:
  Reader(const Config& file, int64_t vocabulary) : file_(file), vocabulary_(vocabulary) {}

  std::string where(std::string_view key) const {
    return fmt::format("{}: '{}'", file_.source(), key);
  }
  const Json* find(std::string_view key) const {
    return file_.has(key) ? file_.json().find(key) : nullptr;
  }

  int64_t count(std::string_view key, int64_t otherwise, int64_t least = 0,
                int64_t most = kLargest) const {
    const int64_t value = file_.get_int(key, otherwise);
    if (value < least || value > most) {
      fail(ErrorKind::kBadFile, "{} should be from {} to {} but is {}; correct the file",
           where(key), least, most, value);
    }
    return value;
  }
  std::optional<int64_t> find_count(std::string_view key) const {
    if (!file_.has(key)) return std::nullopt;
    return count(key, 0, 1);
  }
  double number(std::string_view key, double otherwise, double least, double most) const {
    const double value = file_.get_double(key, otherwise);
    if (!(value >= least && value <= most)) {
      fail(ErrorKind::kBadFile, "{} should be from {} to {} but is {}; correct the file",
           where(key), least, most, value);
    }
    return value;
  }

  int64_t as_id(const Json& value, std::string_view key) const {
    const int64_t id = value.as_int(where(key));
    if (id < 0 || id >= vocabulary_) {
      fail(ErrorKind::kBadFile,
           "{} should name a token of the vocabulary, from 0 to {}, but is {}; correct the file",
           where(key), vocabulary_ - 1, id);
    }
    return id;
  }
  std::optional<int64_t> id(std::string_view key) const {
    const Json* value = find(key);
    if (value == nullptr) return std::nullopt;
    return as_id(*value, key);
  }
  std::vector<int64_t> ids_of(const Json& value, std::string_view key) const {
    std::vector<int64_t> ids;
    for (const Json& item : value.as_array(where(key))) ids.push_back(as_id(item, key));
    return ids;
  }
  // A list, or one alone.
  std::vector<int64_t> ids(std::string_view key) const {
    const Json* value = find(key);
    if (value == nullptr) return {};
    if (value->is_array()) return ids_of(*value, key);
    return {as_id(*value, key)};
  }

 private:
  const Config& file_;
  int64_t vocabulary_;
};

int64_t vocabulary_of(const Config& config) {
  for (const char* key : {"decoder_vocab_size", "vocab_size"}) {
    if (config.has(key)) return config.get_size(key);
  }
  const std::optional<Config> text = config.find_section("text_config");
  return text ? text->get_size("vocab_size", kLargest) : kLargest;
}

// Refuses settings that change the text and that fovea does not support.
void refuse_other_searches(const Reader& reader) {
  constexpr std::pair<std::string_view, double> kWithoutEffect[] = {
      {"encoder_no_repeat_ngram_size", 0},
      {"encoder_repetition_penalty", 1},
      {"num_beam_groups", 1},
      {"diversity_penalty", 0},
      {"guidance_scale", 1},
      {"penalty_alpha", 0},
      {"renormalize_logits", 0},
      {"token_healing", 0},
      {"low_memory", 0}};
  constexpr std::string_view kNoneWithoutEffect[] = {
      "sequence_bias", "exponential_decay_length_penalty",
      "constraints",   "force_words_ids",
      "stop_strings",  "watermarking_config",
      "dola_layers",   "max_time"};
  const auto refuse = [&](std::string_view key) {
    fail(ErrorKind::kUnsupported, "{} is {}, which fovea's search does not do; remove the key",
         reader.where(key), reader.find(key)->dump().substr(0, 60));
  };
  for (const auto& [key, without_effect] : kWithoutEffect) {
    const Json* value = reader.find(key);
    if (value == nullptr) continue;
    const double number =
        value->is_bool() ? (value->as_bool("") ? 1 : 0) : value->as_double(reader.where(key));
    if (number != without_effect) refuse(key);
  }
  for (const std::string_view key : kNoneWithoutEffect) {
    if (reader.find(key) != nullptr) refuse(key);
  }
}

EarlyStopping read_early_stopping(const Reader& reader) {
  const Json* value = reader.find("early_stopping");
  if (value == nullptr) return EarlyStopping::kHeuristic;
  if (value->is_string() && value->as_string("") == "never") return EarlyStopping::kExhaustive;
  if (!value->is_bool()) {
    fail(ErrorKind::kBadFile, "{} should be true, false or \"never\" but is {}; correct the file",
         reader.where("early_stopping"), value->dump().substr(0, 60));
  }
  return value->as_bool("") ? EarlyStopping::kAtOnce : EarlyStopping::kHeuristic;
}

// A token that must and must not be written would leave no word at all.
void check_not_suppressed(const Reader& reader, std::string_view key,
                          std::span<const int64_t> forced, std::span<const int64_t> suppressed) {
  const bool all = std::ranges::all_of(
      forced, [&](int64_t id) { return std::ranges::find(suppressed, id) != suppressed.end(); });
  if (!forced.empty() && all) {
    fail(ErrorKind::kBadFile, "{} is {}, which 'suppress_tokens' forbids; remove one of them",
         reader.where(key), forced.front());
  }
}

TokenRules read_rules(const Reader& reader) {
  TokenRules rules;
  rules.repetition_penalty = reader.number("repetition_penalty", 1, kWeakestRepetitionPenalty,
                                           kStrongestRepetitionPenalty);
  rules.no_repeat_ngram_size = reader.count("no_repeat_ngram_size", 0);
  if (const Json* words = reader.find("bad_words_ids")) {
    for (const Json& word : words->as_array(reader.where("bad_words_ids"))) {
      rules.bad_words_ids.push_back(reader.ids_of(word, "bad_words_ids"));
      if (rules.bad_words_ids.back().empty()) {
        fail(ErrorKind::kBadFile, "{} has an entry without tokens; remove it",
             reader.where("bad_words_ids"));
      }
    }
  }
  rules.min_length = reader.count("min_length", 0);
  if (reader.find("min_new_tokens") != nullptr) {  // as in transformers it replaces the other
    rules.min_new_tokens = reader.count("min_new_tokens", 0);
    rules.min_length = 0;
  }
  rules.forced_bos_token_id = reader.id("forced_bos_token_id");
  rules.forced_eos_token_id = reader.ids("forced_eos_token_id");
  rules.suppress_tokens = reader.ids("suppress_tokens");
  rules.begin_suppress_tokens = reader.ids("begin_suppress_tokens");
  if (rules.forced_bos_token_id) {
    check_not_suppressed(reader, "forced_bos_token_id", {&*rules.forced_bos_token_id, 1},
                         rules.suppress_tokens);
  }
  check_not_suppressed(reader, "forced_eos_token_id", rules.forced_eos_token_id,
                       rules.suppress_tokens);
  return rules;
}

void read_special_tokens(const Reader& reader, GenerationConfig& into) {
  if (into.search.stop_ids.empty()) into.search.stop_ids = reader.ids("eos_token_id");
  if (into.search.stop_ids.size() > kMostStopIds) {
    fail(ErrorKind::kBadFile, "{} has {} tokens but may have {}; correct the file",
         reader.where("eos_token_id"), into.search.stop_ids.size(), kMostStopIds);
  }
  if (!into.bos_token_id) into.bos_token_id = reader.id("bos_token_id");
  if (!into.decoder_start_token_id) {
    into.decoder_start_token_id = reader.id("decoder_start_token_id");
  }
  if (!into.pad_token_id && reader.find("pad_token_id") != nullptr) {
    const int64_t pad = reader.count("pad_token_id", 0, -1);
    if (pad >= 0) into.pad_token_id = pad;  // old files write -1 for none
  }
}

}  // namespace

int64_t GenerationConfig::most_tokens(int64_t prompt, int64_t positions) const {
  if (max_new_tokens) return *max_new_tokens;
  int64_t whole = prompt + 20;
  if (max_length) {
    whole = *max_length;
  } else if (positions > 0) {
    whole = std::min(whole, positions);
  }
  if (whole <= prompt) {
    fail(ErrorKind::kInvalidArgument,
         "the prompt has {} tokens but a text may have {} in all; ask for a number of new tokens",
         prompt, whole);
  }
  return whole - prompt;
}

GenerationConfig read_generation_config(const Config& config, const Config* generation) {
  const int64_t vocabulary = vocabulary_of(config);
  const Reader reader(generation != nullptr ? *generation : config, vocabulary);
  refuse_other_searches(reader);
  GenerationConfig read;
  read.search.beams = reader.count("num_beams", 1, 1, kMostBeams);
  read.search.length_penalty =
      reader.number("length_penalty", 1, -kStrongestLengthPenalty, kStrongestLengthPenalty);
  read.search.early_stopping = read_early_stopping(reader);
  read.search.rules = read_rules(reader);
  read.max_length = reader.find_count("max_length");
  read.max_new_tokens = reader.find_count("max_new_tokens");
  read_special_tokens(reader, read);
  if (generation != nullptr) read_special_tokens(Reader(config, vocabulary), read);
  if (!read.decoder_start_token_id) read.decoder_start_token_id = read.bos_token_id;
  if (generation == nullptr && config.get_bool("force_bos_token_to_be_generated", false)) {
    read.search.rules.forced_bos_token_id = read.bos_token_id;  // the first BART folders say it so
  }
  return read;
}

GenerationConfig open_generation_config(const std::filesystem::path& folder, const Config& config) {
  const std::filesystem::path path = folder / "generation_config.json";
  if (!file_exists(path)) return read_generation_config(config);
  const Config generation = Config::open(path);
  return read_generation_config(config, &generation);
}

}  // namespace fovea
