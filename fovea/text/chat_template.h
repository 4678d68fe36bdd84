// How a chat model's authors want a conversation written as one text: the template beside its
// tokenizer.
#pragma once

#include <ctime>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/text/jinja/template.h"
#include "fovea/text/tokenizer.h"

namespace fovea {

struct ChatMessage {
  std::string role;  // "system", "user", "assistant"
  std::string content;
};

// A template as a file has it.
struct ChatTemplateText {
  std::string text;
  std::string where;  // the file, for messages
};

// The template of a folder: chat_template.jinja, or the member of tokenizer_config.json or
// chat_template.json, of several the one called "default". Nothing if there is none. Throws
// Error{kBadFile}.
std::optional<ChatTemplateText> find_chat_template(const std::filesystem::path& folder);

class ChatTemplate {
 public:
  // Throws as jinja::Template::parse() does.
  explicit ChatTemplate(const ChatTemplateText& text);

  // The messages as one text, as transformers' apply_chat_template writes them; at its end, unless
  // the last message is the assistant's, what the model goes on from (add_generation_prompt). Names
  // such as bos_token are the tokenizer's. Throws as jinja::Template::render() does.
  std::string text_of(std::span<const ChatMessage> messages, const Tokenizer& tokenizer,
                      std::time_t now) const;

 private:
  jinja::Template template_;
};

// What a text means as a chat: a JSON list of {"role", "content"} is those messages, any other text
// what the user says. `system` comes before. Throws Error{kInvalidArgument} for a list that begins
// like messages and is none, and for a second system message.
std::vector<ChatMessage> chat_messages(std::string_view text,
                                       const std::optional<std::string>& system = {});

}  // namespace fovea
