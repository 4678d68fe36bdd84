// Chats of models that have a template and of those that have none; tests/python/test_chat.py asks
// through the program.
#include "fovea/engine/chat.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "support/data.h"
#include "support/errors.h"
#include "support/temp_folder.h"

namespace fovea {
namespace {

const std::filesystem::path kTranslator = test_data("../../models/en-fr");

TEST(Chat, IsRefusedByAModelWithoutATemplate) {
  const Engine engine = Engine::open(kTranslator.string());
  EXPECT_FALSE(has_chat_template(engine));
  EXPECT_TRUE(fails_with(ErrorKind::kUnsupported, Field{"chat"}, "has no chat template",
                         [&] { encode_chat(engine, "Hello."); }));
}

TEST(Chat, IsCutIntoTheTokensOfItsTextAndNoOthers) {
  const TempFolder folder;
  std::filesystem::copy(kTranslator, folder / "model", std::filesystem::copy_options::recursive);
  write_text(folder / "model/chat_template.jinja",
             "{% for m in messages %}{{ m.content }} {{ eos_token }}{% endfor %}");
  const Engine engine = Engine::open((folder / "model").string());
  ASSERT_TRUE(has_chat_template(engine));
  const EncodedInput chat = encode_chat(engine, "Hello.", "Be brief.");
  const EncodedInput plain =
      encode_text(engine.tokenizer(), "Be brief. </s>Hello. </s>", {}, SpecialTokens::kInText);
  EXPECT_EQ(chat.inputs.input_ids, plain.inputs.input_ids);
  EXPECT_EQ(chat.axis.source, "Be brief. </s>Hello. </s>");
}

}  // namespace
}  // namespace fovea
