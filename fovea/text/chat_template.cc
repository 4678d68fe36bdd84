#include "fovea/text/chat_template.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/json.h"
#include "fovea/base/utf8.h"
#include "fovea/text/unicode.h"

namespace fovea {
namespace {

// The names under which templates know special tokens, as the tokenizer calls their roles.
constexpr std::string_view kTokenNames[] = {"bos_token", "eos_token", "unk_token", "sep_token",
                                            "pad_token", "cls_token", "mask_token"};

// A template, or a list of them with a name each.
std::optional<std::string> template_in(const Json& json, const std::string& where) {
  const Json* member = json.find("chat_template");
  if (member == nullptr || member->is_null()) return {};
  if (!member->is_array()) return member->as_string(where + ": 'chat_template'");
  std::vector<std::string> names;
  for (const Json& each : member->as_array(where)) {
    names.push_back(each.at("name", where).as_string(where));
    if (names.back() == "default") return each.at("template", where).as_string(where);
  }
  fail(ErrorKind::kUnsupported, "{}: none of its {} chat templates is called 'default'", where,
       names.size());
}

bool looks_like_messages(std::string_view text) {
  const auto skip = [&] {
    while (!text.empty() && is_white_space(static_cast<unsigned char>(text.front()))) {
      text.remove_prefix(1);
    }
  };
  skip();
  if (!text.starts_with('[')) return false;
  text.remove_prefix(1);
  skip();
  return text.starts_with('{');
}

jinja::Dict message_of(const ChatMessage& message) {
  return {.items = {{"role", message.role}, {"content", message.content}}};
}

}  // namespace

std::optional<ChatTemplateText> find_chat_template(const std::filesystem::path& folder) {
  const std::filesystem::path own = folder / "chat_template.jinja";
  if (file_exists(own)) return ChatTemplateText{read_text_file(own), own.string()};
  for (const char* name : {"tokenizer_config.json", "chat_template.json"}) {
    const std::filesystem::path path = folder / name;
    if (!file_exists(path)) continue;
    const std::string where = path.string();
    if (auto text = template_in(Json::parse(read_text_file(path), where), where)) {
      return ChatTemplateText{*std::move(text), where + ": chat_template"};
    }
  }
  return {};
}

ChatTemplate::ChatTemplate(const ChatTemplateText& text)
    : template_(jinja::Template::parse(text.text, text.where)) {}

std::string ChatTemplate::text_of(std::span<const ChatMessage> messages, const Tokenizer& tokenizer,
                                  std::time_t now) const {
  jinja::List list;
  for (const ChatMessage& message : messages) list.items.emplace_back(message_of(message));
  jinja::Dict variables{.items = {{"messages", std::move(list)},
                                  {"tools", jinja::Value()},
                                  {"documents", jinja::Value()}}};
  variables.items.emplace_back("add_generation_prompt",
                               messages.empty() || messages.back().role != "assistant");
  for (const std::string_view name : kTokenNames) {
    if (const auto id = tokenizer.role(name)) {
      variables.items.emplace_back(name, tokenizer.token(*id));
    }
  }
  return template_.render(variables, now);
}

std::vector<ChatMessage> chat_messages(std::string_view text,
                                       const std::optional<std::string>& system) {
  constexpr std::string_view kWhere = "the chat";
  std::vector<ChatMessage> messages;
  if (system) messages.push_back({"system", *system});
  if (!looks_like_messages(text)) {
    messages.push_back({"user", to_valid_utf8(text)});
    return messages;
  }
  try {
    const Json list = Json::parse(text, kWhere);
    for (const Json& each : list.as_array(kWhere)) {
      messages.push_back({each.at("role", kWhere).as_string("the chat: 'role'"),
                          each.at("content", kWhere).as_string("the chat: 'content'")});
    }
  } catch (const Error& error) {
    fail(ErrorKind::kInvalidArgument,
         "{}; a chat is a text, or a JSON list of messages {{\"role\": …, \"content\": …}}",
         error.what());
  }
  if (system && messages.size() > 1 && messages[1].role == "system") {
    fail(ErrorKind::kInvalidArgument, Field{"system"},
         "it is given but the messages have a system message of their own; leave one out");
  }
  return messages;
}

}  // namespace fovea
