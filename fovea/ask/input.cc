#include "fovea/ask/input.h"

#include <type_traits>

#include "fovea/base/error.h"

namespace fovea {
namespace {

constexpr std::string_view kOfInput = "an input";  // its values are checked before they are read

FieldRule only_without_target() {
  return {.excludes = "target", .why = "is for searching a translation but a target is given"};
}
FieldRule only_for_writing() {
  return {.needs = "generate", .why = "is for writing text"};
}

std::vector<FieldInfo> all_input_fields() {
  const std::string translates = "models that translate";
  const std::string several = "models that translate several languages";
  const std::string writes = "causal models";
  const std::string chats = "causal models with a chat template";
  return {{.name = "text", .shown = "TEXT", .help = "what is read", .may_be_empty = true},
          {.name = "pair",
           .shown = "TEXT",
           .help = "a second text, for models that compare two",
           .may_be_empty = true},
          {.name = "chat",
           .help = "say the text to a chat model, as its own template writes it; a JSON list of "
                   "{role, content} is a conversation",
           .type = FieldType::kFlag,
           .models = chats,
           .rules = {{.excludes = "pair", .why = "is one text, with what is said before it"},
                     {.excludes = "target", .why = "is for models that go on writing"}}},
          {.name = "system",
           .shown = "TEXT",
           .help = "what the chat model is told before the text",
           .otherwise = "what its template says",
           .may_be_empty = true,
           .models = chats,
           .rules = {{.needs = "chat", .why = "is a message of a chat"}}},
          {.name = "target",
           .shown = "TEXT",
           .help = "what the decoder of a translation model is made to write",
           .otherwise = "what it writes itself",
           .may_be_empty = true,
           .models = translates},
          {.name = "from",
           .shown = "CODE",
           .help = "the text's language, for models that translate several",
           .models = several},
          {.name = "to",
           .shown = "CODE",
           .help = "the language to translate into, for models that know several",
           .models = several},
          {.name = "beam",
           .shown = "N",
           .help = "hypotheses that are followed; 1: greedy",
           .type = FieldType::kInteger,
           .low = 1,
           .otherwise = "the model's",
           .models = translates,
           .rules = {only_without_target()}},
          {.name = "length_penalty",
           .shown = "P",
           .help = "above 0 favours longer texts",
           .type = FieldType::kReal,
           .low = -10,
           .otherwise = "the model's",
           .models = translates,
           .rules = {only_without_target()}},
          {.name = "most_tokens",
           .shown = "N",
           .help = "where the search ends at the latest",
           .type = FieldType::kInteger,
           .low = 1,
           .otherwise = "the model's, or 256",
           .models = translates,
           .rules = {only_without_target()}},
          {.name = "size",
           .shown = "WxH|keep",
           .help = "the size at which the model takes a picture; keep: in the picture's own shape",
           .type = FieldType::kSize,
           .words = {"keep"},
           .otherwise = "what its preprocessor says",
           .models = "models that see pictures"},
          {.name = "generate",
           .shown = "N",
           .help = "let a causal model go on for N tokens",
           .type = FieldType::kInteger,
           .low = 1,
           .models = writes},
          {.name = "temperature",
           .shown = "T",
           .help = "how freely words are chosen; 0 takes the best",
           .type = FieldType::kReal,
           .low = 0,
           .otherwise = "0",
           .models = writes,
           .rules = {only_for_writing()}},
          {.name = "top_p",
           .shown = "P",
           .help = "choose among the words that make up this probability",
           .type = FieldType::kReal,
           .low = 0,
           .low_excluded = true,
           .high = 1,
           .otherwise = "1",
           .models = writes,
           .rules = {only_for_writing()}},
          {.name = "seed",
           .shown = "N",
           .help = "the seed of that choice",
           .type = FieldType::kInteger,
           .low = 0,
           .otherwise = "0",
           .models = writes,
           .rules = {only_for_writing()}}};
}

std::optional<std::string> given_text(const Json& json, std::string_view name) {
  const Json* value = json.find(name);
  if (value == nullptr) return {};
  return value->as_string(kOfInput);
}

template <typename Number>
std::optional<Number> number_in(const Json& json, std::string_view name) {
  const Json* value = json.find(name);
  if (value == nullptr) return {};
  if constexpr (std::is_integral_v<Number>) {
    return static_cast<Number>(value->as_int(kOfInput));
  } else {
    return value->as_double(kOfInput);
  }
}

void set_given(Json& json, const char* name, const auto& value) {
  if (value) json.set(name, *value);
}

}  // namespace

std::span<const FieldInfo> input_fields() {
  static const std::vector<FieldInfo> fields = all_input_fields();
  return fields;
}

Input parse_input(const Json& json) {
  const Json given = checked_fields(input_fields(), json, "an input");
  Input input;
  if (auto text = given_text(given, "text")) input.what = Text{*std::move(text)};
  input.pair = given_text(given, "pair");
  if (given.find("chat") != nullptr) input.chat = Chat{given_text(given, "system")};
  input.translate = {.target = given_text(given, "target"),
                     .beams = number_in<int64_t>(given, "beam"),
                     .most_tokens = number_in<int64_t>(given, "most_tokens"),
                     .length_penalty = number_in<double>(given, "length_penalty")};
  input.languages = {.source = given_text(given, "from").value_or(""),
                     .target = given_text(given, "to").value_or("")};
  if (const Json* size = given.find("size")) {
    input.size = kKeepShape;
    if (size->is_array()) {
      const Json::Array& sides = size->as_array(kOfInput);
      input.size = PictureSize{sides[0].as_int(kOfInput), sides[1].as_int(kOfInput)};
    }
  }
  if (const auto tokens = number_in<int64_t>(given, "generate")) {
    input.generate = GenerateOptions{
        .most_tokens = *tokens,
        .sampling = {.temperature = number_in<double>(given, "temperature").value_or(0),
                     .top_p = number_in<double>(given, "top_p").value_or(1),
                     .seed = number_in<uint64_t>(given, "seed").value_or(0)}};
  }
  return input;
}

Json to_json(const Input& input) {
  Json json = Json::object();
  if (const auto* text = std::get_if<Text>(&input.what)) {
    json.set("text", text->text);
  } else if (const auto* picture = std::get_if<PictureBytes>(&input.what)) {
    json.set("picture", picture->name);
  } else if (std::holds_alternative<ModelInputs>(input.what)) {
    json.set("tensors", true);
  }
  set_given(json, "pair", input.pair);
  if (input.chat) {
    json.set("chat", true);
    set_given(json, "system", input.chat->system);
  }
  if (input.size) {
    json.set("size", *input.size == kKeepShape
                         ? Json("keep")
                         : Json(Json::Array{input.size->width, input.size->height}));
  }
  set_given(json, "target", input.translate.target);
  if (!input.languages.source.empty()) json.set("from", input.languages.source);
  if (!input.languages.target.empty()) json.set("to", input.languages.target);
  set_given(json, "beam", input.translate.beams);
  set_given(json, "length_penalty", input.translate.length_penalty);
  set_given(json, "most_tokens", input.translate.most_tokens);
  if (input.generate) {
    const Sampling& sampling = input.generate->sampling;
    json.set("generate", input.generate->most_tokens);
    if (sampling.temperature != 0) json.set("temperature", sampling.temperature);
    if (sampling.top_p != 1) json.set("top_p", sampling.top_p);
    if (sampling.seed != 0) json.set("seed", static_cast<int64_t>(sampling.seed));
  }
  return json;
}

}  // namespace fovea
