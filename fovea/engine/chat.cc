#include "fovea/engine/chat.h"

#include <ctime>

#include "fovea/base/error.h"
#include "fovea/text/chat_template.h"

namespace fovea {
namespace {

// A GGUF file stands for itself; one without a template may lie beside its tokenizer's files.
std::optional<ChatTemplateText> template_of(const Engine& engine) {
  const Checkpoint& checkpoint = engine.checkpoint();
  if (checkpoint.gguf) {
    if (const auto text = checkpoint.gguf->metadata().get_string("tokenizer.chat_template")) {
      return ChatTemplateText{std::string(*text),
                              checkpoint.gguf->source() + ": tokenizer.chat_template"};
    }
  }
  return find_chat_template(checkpoint.folder);
}

}  // namespace

bool has_chat_template(const Engine& engine) {
  return template_of(engine).has_value();
}

EncodedInput encode_chat(const Engine& engine, std::string_view text,
                         const std::optional<std::string>& system) {
  const std::optional<ChatTemplateText> written = template_of(engine);
  if (!written) {
    fail(ErrorKind::kUnsupported, Field{"chat"},
         "{} has no chat template: none in tokenizer_config.json, chat_template.jinja or its .gguf "
         "file; leave it out, or take a model that was trained for chats",
         engine.name());
  }
  const Tokenizer& tokenizer = engine.tokenizer();
  const std::string prompt =
      ChatTemplate(*written).text_of(chat_messages(text, system), tokenizer, std::time(nullptr));
  return encode_text(tokenizer, prompt, {}, SpecialTokens::kInText);
}

}  // namespace fovea
