// Translation: the model writes a target for a source, or reads one that is given. Every attention
// on the way is recorded.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "fovea/engine/engine.h"
#include "fovea/explain/alignment/alignment.h"

namespace fovea {

// Language codes as the model's tokenizer knows them ("fr_XX", "fra_Latn"). Empty: the model's
// default.
struct Languages {
  std::string source;
  std::string target;
};

// What counts as a word of a text.
enum class WordDivision {
  kText,    // words as people see them (text/word_boundaries.h)
  kSpaces,  // what stands between spaces, as alignment files count
};

struct TranslateOptions {
  std::optional<std::string> target;  // the given target; none: the model writes its own
  // How the search runs; none: as generation_config.json says.
  std::optional<int64_t> beams;
  std::optional<int64_t> most_tokens;
  std::optional<double> length_penalty;
  WordDivision words = WordDivision::kText;
};

struct Translation {
  // The run has the axes "source", "target" (what the decoder read: start tokens and the target)
  // and "steps". Both texts are divided into words.
  RunResult result;
  std::string target;           // the text
  bool forced = false;          // the user gave it
  bool complete = true;         // false: the search ended at its limit
  std::optional<double> score;  // log p / length^penalty, of beam search
  int64_t beams = 1;
  int64_t prefix = 1;  // how many decoder inputs come before the first token of the target
  // Tokens that clearly belong together (engine/anchors.h): source position, and target token
  // counted after the prefix.
  Alignment anchors;
};

// Throws Error{kUnsupported} if the model has no encoder and decoder of text.
void check_translates(const Engine& engine);

// Holds a copy of the engine, which shares the model. Const members may be called from any thread.
class Translator {
 public:
  // Throws Error{kUnsupported} if the model has no encoder and decoder of text, or no languages to
  // choose from; Error{kInvalidArgument} for a language that it does not know.
  explicit Translator(Engine engine, const Languages& languages = {});

  const Engine& engine() const { return engine_; }

  // The source as the encoder reads it. Throws Error{kInvalidArgument} if it has no words.
  EncodedInput encode(std::string_view source) const;
  // Throws Error{kInvalidArgument} if a text is empty or too long for the model. A change that
  // names a position of the target takes effect once the target has reached it.
  Translation translate(std::string_view source, const TranslateOptions& options = {},
                        const RunOptions& run = {}) const;

 private:
  struct Target {
    std::vector<int64_t> ids;  // what the decoder reads
    Axis axis;
    std::optional<int64_t> next_id;
    int64_t prefix = 1;
  };
  Translation translate_here(std::string_view source, const TranslateOptions& options,
                             const RunOptions& run) const;
  SearchOptions search_options(const TranslateOptions& options) const;
  std::vector<Hypothesis> hypotheses(const EncodedSource& source, const SearchOptions& how,
                                     const std::vector<Intervention>& changes) const;
  Target written(const Hypothesis& hypothesis) const;
  Target given(std::string_view text, std::vector<std::string>& warnings) const;

  Engine engine_;
  Tokenizer source_tokenizer_, target_tokenizer_;
  GenerationConfig config_;
  int64_t start_id_ = 0;
  StoredMatrix shared_words_;
};

}  // namespace fovea
