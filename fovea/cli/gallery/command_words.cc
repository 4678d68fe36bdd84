// From an item of the gallery to the command that asks the same.
#include "fovea/ask/input.h"
#include "fovea/ask/question_kind.h"
#include "fovea/ask/vectors.h"
#include "fovea/base/error.h"
#include "fovea/cli/ask_options.h"
#include "fovea/cli/gallery/items.h"
#include "fovea/cli/model_options.h"

namespace fovea {
namespace {

constexpr std::string_view kOfItem = "an item of the gallery";

// The model that the verb takes where none is named.
std::string_view usual_model(std::string_view verb, const Json& input) {
  if (verb == "detect") return kDefaultDetectionModel;
  if (verb == "translate" || input.find("target") != nullptr) return kDefaultTranslationModel;
  return input.find("picture") != nullptr ? kDefaultPictureModel : kDefaultTextModel;
}

// Whether the verb would take the other fields as a question of another kind.
bool needs_view(const QuestionKind& kind, std::string_view verb, const Json& question) {
  if (verb == kind.name) return false;  // it has no other
  if (verb == "translate") return kind.name != "align";
  if (verb == "image") return kind.name != "maps";
  const RunSort sort = verb == "detect" ? RunSort::kObjects : RunSort::kText;
  return kind.name != usual_kind(question, sort);
}

void append(std::vector<std::string>& words, const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
}

// The options of such values, in the order in which the item has them.
void append_fields(std::vector<std::string>& words, std::span<const FieldInfo> fields,
                   const Json& given) {
  for (const auto& [name, value] : given.as_object(kOfItem)) {
    const FieldInfo* field = find_field(fields, name);
    if (field != nullptr) append(words, typed_words(*field, value));
  }
}

std::vector<std::string> vectors_words(const GalleryItem& item) {
  std::vector<std::string> words{"steps", "--vectors",
                                 item.input.at("vectors", kOfItem).as_string(kOfItem)};
  append_fields(words, vector_fields(), item.question);
  return words;
}

std::vector<std::string> model_words(const GalleryItem& item) {
  const QuestionKind& kind = question_kind_named(parse_question(item.question).kind);
  const std::string& verb = kind.verbs.front();
  std::vector<std::string> words{verb};
  if (item.model != usual_model(verb, item.input)) append(words, {"-m", item.model});
  for (const char* name : {"text", "picture"}) {
    if (const Json* value = item.input.find(name)) words.push_back(value->as_string(kOfItem));
  }
  if (const Json* file = item.input.find("text_file")) {
    append(words, {"--text-file", file->as_string(kOfItem)});
  }
  std::vector<FieldInfo> settings(input_fields().begin(), input_fields().end());
  std::erase_if(settings, [](const FieldInfo& field) { return field.name == "text"; });
  append_fields(words, settings, item.input);
  if (needs_view(kind, verb, item.question)) {
    append(words, {"--view", kind.view.empty() ? kind.name : kind.view});
  }
  append_fields(words, kind.fields, item.question);
  return words;
}

}  // namespace

std::vector<std::string> command_words(const GalleryItem& item) {
  std::vector<std::string> words =
      item.input.find("vectors") != nullptr ? vectors_words(item) : model_words(item);
  if (!item.file.empty()) append(words, {"--out", item.file});
  return words;
}

}  // namespace fovea
