// Chat templates against what transformers writes (tools/fixtures/make_chat_answers.py), and files
// that are none.
#include "fovea/text/chat_template.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/json.h"
#include "fovea/text/jinja/template.h"
#include "fovea/text/jinja/tokens.h"
#include "support/data.h"
#include "support/errors.h"
#include "support/temp_folder.h"

namespace fovea {
namespace {

const Json& answers() {
  static const Json json = Json::parse(read_text_file(test_data("chat/answers.json")), "answers");
  return json;
}

const std::string& text_at(const Json& json, const char* key) {
  return json.at(key, "answers").as_string(key);
}

jinja::Dict variables_of(const Json& messages) {
  const bool asks = text_at(messages.as_array("messages").back(), "role") != "assistant";
  return {.items = {{"messages", jinja::Value::of(messages)},
                    {"tools", jinja::Value()},
                    {"documents", jinja::Value()},
                    {"add_generation_prompt", asks},
                    {"bos_token", "<s>"},
                    {"eos_token", "</s>"}}};
}

std::string rendered(const std::string& source, const jinja::Dict& variables = {}) {
  return jinja::Template::parse(source, "chat").render(variables, 0);
}

TEST(ChatTemplate, WritesConversationsAsTransformersDoes) {
  for (const Json& chat : answers().at("chats", "answers").as_array("chats")) {
    SCOPED_TRACE(text_at(chat, "name"));
    const jinja::Dict variables = variables_of(chat.at("messages", "answers"));
    const std::string& source = text_at(chat, "template");
    if (chat.find("error") != nullptr) {
      EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, text_at(chat, "error"),
                             [&] { rendered(source, variables); }));
    } else {
      EXPECT_EQ(rendered(source, variables), text_at(chat, "text"));
    }
  }
}

TEST(ChatTemplate, ComputesExpressionsAsPythonDoes) {
  for (const Json& value : answers().at("values", "answers").as_array("values")) {
    const std::string& expression = text_at(value, "expression");
    try {
      EXPECT_EQ(rendered("{{ " + expression + " }}"), text_at(value, "text")) << expression;
    } catch (const Error& error) {
      ADD_FAILURE() << expression << ": " << error.what();
    }
  }
}

TEST(ChatTemplate, RefusesWhatItDoesNotKnowByName) {
  const jinja::Dict variables{.items = {{"messages", jinja::List{}}}};
  for (const Json& broken : answers().at("broken", "answers").as_array("broken")) {
    const std::string& source = text_at(broken, "template");
    EXPECT_TRUE(fails_cleanly([&] { rendered(source, variables); })) << source;
    const std::string message = message_of([&] { rendered(source, variables); });
    EXPECT_TRUE(message.starts_with("chat: line 1: ")) << message;
    EXPECT_NE(message.find(text_at(broken, "names")), std::string::npos) << message;
  }
}

TEST(ChatTemplate, IsCutIntoTextAndTheWordsOfItsTags) {
  std::vector<std::string> texts;
  for (const jinja::Token& token : jinja::tokens_of("a\n  {%- if 'x' -%} b{{ 1.5 }}\n", "chat")) {
    if (!token.text.empty()) texts.push_back(token.text);
  }
  EXPECT_EQ(texts, (std::vector<std::string>{"a", "if", "x", "b", "1.5"}));
}

TEST(ChatTemplate, ANamespaceWithinItselfIsFreed) {
  EXPECT_EQ(rendered("{% set ns = namespace(a=1) %}{% set ns.b = [ns] %}{{ ns.b[0].a }}"), "1");
}

TEST(ChatTemplate, IsFoundInEachOfItsFiles) {
  const TempFolder folder;
  EXPECT_FALSE(find_chat_template(folder / "."));
  write_text(folder / "chat_template.json", R"({"chat_template": "third"})");
  EXPECT_EQ(find_chat_template(folder / ".")->text, "third");
  write_text(folder / "tokenizer_config.json",
             R"({"chat_template": [{"name": "tool_use", "template": "x"},
                                  {"name": "default", "template": "second"}]})");
  EXPECT_EQ(find_chat_template(folder / ".")->text, "second");
  write_text(folder / "chat_template.jinja", "first");
  EXPECT_EQ(find_chat_template(folder / ".")->text, "first");
  std::filesystem::remove(folder / "chat_template.jinja");
  write_text(folder / "tokenizer_config.json",
             R"({"chat_template": [{"name": "rag", "template": "x"}]})");
  EXPECT_TRUE(
      fails_with(ErrorKind::kUnsupported, "'default'", [&] { find_chat_template(folder / "."); }));
}

TEST(ChatMessages, AreATextOrAListOfThem) {
  EXPECT_EQ(chat_messages("Hi [{").front().role, "user");
  EXPECT_EQ(chat_messages("[1, 2]").front().content, "[1, 2]");
  const auto both = chat_messages(R"( [{"role": "user", "content": "Hi."}] )", "Be brief.");
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(both[0].role + both[0].content, "systemBe brief.");
  EXPECT_EQ(both[1].role + both[1].content, "userHi.");
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "content",
                         [] { chat_messages(R"([{"role": "user"}])"); }));
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, Field{"system"}, "leave one out",
                         [] { chat_messages(R"([{"role": "system", "content": ""}])", "again"); }));
}

}  // namespace
}  // namespace fovea
