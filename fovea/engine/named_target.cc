#include "fovea/engine/named_target.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>

#include "fovea/base/error.h"
#include "fovea/base/parse.h"
#include "fovea/base/suggest.h"
#include "fovea/base/utf8.h"
#include "fovea/engine/classes.h"
#include "fovea/engine/engine_subject.h"

namespace fovea {
namespace {

constexpr size_t kMostListed = 12;

bool same_letters(std::string_view a, std::string_view b) {
  const auto small = [](char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  };
  return std::ranges::equal(a, b, {}, small, small);
}

std::string labels_text(const std::vector<std::string>& labels) {
  if (labels.empty()) return "";
  const auto shown = std::min(labels.size(), kMostListed);
  return fmt::format(": {}{}", fmt::join(std::span(labels).first(shown), ", "),
                     shown < labels.size() ? ", ..." : "");
}

// "class cat", or "class 3".
std::string named_class(const std::vector<std::string>& labels, int64_t index) {
  const bool labelled = index < static_cast<int64_t>(labels.size());
  return (labelled ? "class " : "") + class_name(labels, index);
}

// Finds a class by its label, in any case of letters, or by its number, 3 or #3.
int64_t class_named(const std::vector<std::string>& labels, int64_t count,
                    const std::string& name) {
  for (size_t i = 0; i < labels.size() && static_cast<int64_t>(i) < count; ++i) {
    if (labels[i] == name) return static_cast<int64_t>(i);
  }
  for (size_t i = 0; i < labels.size() && static_cast<int64_t>(i) < count; ++i) {
    if (same_letters(labels[i], name)) return static_cast<int64_t>(i);
  }
  const auto index = parse_number<int64_t>(name.starts_with('#') ? name.substr(1) : name);
  if (index && *index >= 0 && *index < count) return *index;
  fail(ErrorKind::kInvalidArgument, "class '{}' is asked about but the model has 0 to {}{}{}", name,
       count - 1, labels_text(labels), did_you_mean(name, labels));
}

int64_t best_answer(std::span<const float> logits) {
  return std::ranges::max_element(logits) - logits.begin();
}

NamedTarget class_target(const Engine& engine, const Tensor& logits, const TargetChoice& choice) {
  const std::vector<std::string> labels = engine.labels();
  if (logits.elements() == 1 && !choice.name) return {ClassTarget{0}, "its score"};
  const int64_t index = choice.name ? class_named(labels, logits.elements(), *choice.name)
                                    : best_answer(logits.values<float>());
  return {ClassTarget{index}, named_class(labels, index)};
}

// The logits of one position; a run that was asked for the last row alone gave one.
std::span<const float> row_at(const Tensor& logits, int64_t position) {
  const MatrixView<const float> rows = logits.matrix<float>();
  if (rows.rows > 1 && (position < 0 || position >= rows.rows)) {
    fail(ErrorKind::kInvalidArgument, "position {} is asked about but there are 0 to {}", position,
         rows.rows - 1);
  }
  return {rows.row(rows.rows > 1 ? position : 0), static_cast<size_t>(rows.cols)};
}

NamedTarget token_class_target(const Engine& engine, const Tensor& logits,
                               const TargetChoice& choice) {
  const std::vector<std::string> labels = engine.labels();
  const std::span<const float> row = row_at(logits, choice.position);
  const int64_t index = choice.name
                            ? class_named(labels, static_cast<int64_t>(row.size()), *choice.name)
                            : best_answer(row);
  return {TokenTarget{choice.position, index}, named_class(labels, index)};
}

// #id, a token as the vocabulary writes it, a word that is one token (in running text, with a space
// before it), or an id that is no such word.
int64_t word_id_named(const Tokenizer* tokenizer, int64_t count, const std::string& name) {
  const auto number = parse_number<int64_t>(name.starts_with('#') ? name.substr(1) : name);
  const bool is_id = number && *number >= 0 && *number < count;
  if (is_id && (tokenizer == nullptr || name.starts_with('#'))) return *number;
  if (tokenizer == nullptr || (number && name.starts_with('#'))) {
    fail(ErrorKind::kInvalidArgument, "word '{}' is asked about but {} #0 to #{}", name,
         number ? "the vocabulary has" : "there is no tokenizer to find it; give one of",
         count - 1);
  }
  std::vector<int32_t> pieces;
  for (const std::string& text : {" " + name, name}) {
    const Encoding encoding = tokenizer->encode(text, /*add_special=*/false);
    const bool known = encoding.ids.size() == 1 && encoding.ids[0] != tokenizer->unknown_id();
    if (known && encoding.ids[0] < count) return encoding.ids[0];
    pieces = encoding.ids;
  }
  if (const auto id = tokenizer->find(name); id && *id < count) return *id;
  if (is_id) return *number;
  std::vector<std::string> names;
  for (const int32_t id : pieces) names.push_back(tokenizer->info(id).display);
  fail(ErrorKind::kInvalidArgument,
       "word '{}' is asked about but is {} to the model ({}); name one token, or #0 to #{}", name,
       pieces.size() == 1 ? "unknown" : fmt::format("{} tokens", pieces.size()),
       fmt::join(std::span(names).first(std::min(names.size(), kMostListed)), " "), count - 1);
}

NamedTarget word_target(const Tokenizer* tokenizer, const Tensor& logits,
                        std::optional<int64_t> written, const TargetChoice& choice) {
  const std::span<const float> row = row_at(logits, choice.position);
  const auto count = static_cast<int64_t>(row.size());
  const int64_t id = choice.name                   ? word_id_named(tokenizer, count, *choice.name)
                     : written && *written < count ? *written
                                                   : best_answer(row);
  const std::string shown = tokenizer == nullptr
                                ? fmt::format("#{}", id)
                                : tokenizer->info(static_cast<int32_t>(id)).display;
  // Who gave a plain number may have meant the word.
  const bool by_number =
      choice.name && parse_number<int64_t>(*choice.name) == id && shown != *choice.name;
  return {TokenTarget{choice.position, id},
          fmt::format("the word {}{}", to_one_line(shown),
                      by_number && tokenizer != nullptr ? fmt::format(" (#{})", id) : "")};
}

// The token that the decoder was made to write at this step, if it read it in the next.
std::optional<int64_t> written_at(const RunResult& result, int64_t step) {
  const std::vector<int64_t>& read = result.inputs.decoder_input_ids;
  const auto next = static_cast<size_t>(step) + 1;
  return next < read.size() ? std::optional(read[next]) : std::nullopt;
}

NamedTarget box_target(const Engine& engine, const Tensor& logits, const TargetChoice& choice) {
  const MatrixView<const float> rows = logits.matrix<float>();
  const std::vector<std::string> labels = engine.labels();
  const int64_t classes = rows.cols - 1;  // the last is "no object"
  const auto best_of = [&](int64_t query) {
    return object_class({rows.row(query), static_cast<size_t>(rows.cols)});
  };
  int64_t query = choice.query.value_or(0);
  for (int64_t other = 0; !choice.query && other < rows.rows; ++other) {
    if (best_of(other).probability > best_of(query).probability) query = other;
  }
  if (query < 0 || query >= rows.rows) {
    fail(ErrorKind::kInvalidArgument, "query {} is asked about but the model has 0 to {}", query,
         rows.rows - 1);
  }
  const int64_t index =
      choice.name ? class_named(labels, classes, *choice.name) : best_of(query).label;
  return {BoxTarget{query, index}, fmt::format("query {} as {}", query, class_name(labels, index))};
}

// The vector to be similar to.
Tensor embed(const Engine& engine, const TargetChoice& choice) {
  if (!choice.similar_to && !engine.facts().takes_text()) {
    fail(ErrorKind::kInvalidArgument,
         "'{}' is to be compared with but is a text, and {} sees pictures only; give a picture",
         *choice.name, engine.name());
  }
  const EncodedInput input = choice.similar_to ? *choice.similar_to : engine.encode(*choice.name);
  RunOptions options;
  options.record = RecorderOptions::nothing();
  return embedding_of(engine, engine.run(input, options));
}

NamedTarget similarity_target(const Engine& engine, const RunResult& result,
                              const TargetChoice& choice) {
  const Tensor vector = choice.name ? embed(engine, choice) : embedding_of(engine, result);
  if (vector.empty()) {
    fail(ErrorKind::kUnsupported, "{} gives no classes, words or embedding to ask about",
         engine.name());
  }
  const std::span<const float> values = vector.values<float>();
  return {SimilarityTarget{{values.begin(), values.end()}},
          choice.name ? fmt::format("similarity to \u201c{}\u201d", to_one_line(*choice.name))
                      : "similarity to itself, unchanged"};
}

}  // namespace

std::string answer_name(const NamedTarget& target, const std::optional<NamedTarget>& against) {
  return against ? target.name + " rather than " + against->name : target.name;
}

NamedTarget named_target(const Engine& engine, const RunResult& result,
                         const TargetChoice& choice) {
  const Tensor& logits = result.outputs.logits.tensor;
  switch (engine.facts().head) {
    case HeadKind::kSequenceClass:
    case HeadKind::kPictureClass:
      return class_target(engine, logits, choice);
    case HeadKind::kTokenClass:
      return token_class_target(engine, logits, choice);
    case HeadKind::kMaskedLm:
    case HeadKind::kCausalLm:
      return word_target(engine.find_tokenizer(), logits, {}, choice);
    case HeadKind::kTargetWords:
      return word_target(engine.find_target_tokenizer(), logits,
                         written_at(result, choice.position), choice);
    case HeadKind::kObjects:
      return box_target(engine, logits, choice);
    default:
      return similarity_target(engine, result, choice);
  }
}

LogitRows logits_for_target(const Engine& engine, bool last) {
  switch (engine.facts().head) {
    case HeadKind::kNone:
    case HeadKind::kSimilarity:
      return LogitRows::kNone;
    case HeadKind::kCausalLm:
      return last ? LogitRows::kLast : LogitRows::kAll;
    default:
      return LogitRows::kAll;
  }
}

}  // namespace fovea
