// What a verb shows, asked for after everything that it was made from is gone, and by another
// thread.
#include <gtest/gtest.h>

#include <future>

#include "fovea/cli/explain/check.h"
#include "fovea/cli/explain/view.h"
#include "fovea/cli/parse.h"
#include "support/data.h"
#include "support/fixture_models.h"
#include "support/temp_folder.h"

namespace fovea {
namespace {

Args args_of(std::string_view verb, const std::vector<std::string>& arguments) {
  for (const Command& command : all_commands()) {
    if (command.name == verb) return parse_command(command, arguments).args;
  }
  throw std::runtime_error("no such verb");
}

// Everything that a content gives but its drawing.
std::string numbers_of(const Content& content) {
  std::string text = content.json().dump();
  if (content.data) text += map_json(content.data()).dump();
  if (content.labels) {
    const LabelMask labels = content.labels();
    text.append(labels.labels.begin(), labels.labels.end());
  }
  if (content.write_data) {
    const TempFolder folder;
    content.write_data(folder / "numbers.safetensors");
    text += read_text_file(folder / "numbers.safetensors");
  }
  return text;
}

std::string numbers_in_another_thread(const Content& content) {
  return std::async(std::launch::async, [&] { return numbers_of(content); }).get();
}

TEST(Content, OfAnExplanationOutlivesItsQuestion) {
  const std::string model = parity_folder("bert_sequence").string();
  Content content;
  std::string before;
  {
    const Args args = args_of("explain", {"--inputs", model + "/inputs.safetensors", "--method",
                                          "rollout", "--check", "--check-orders", "2"});
    const ExplainQuestion question =
        read_question(given_input(args), args, Engine::open(model), method_named("rollout"));
    const Explanation explanation = answer(question);
    const FaithfulnessCard card = Checker(args, kOrdersOfOne).card(question, explanation);
    content = explanation_content(question, explanation, &card);
    before = numbers_of(content);
  }
  EXPECT_EQ(numbers_in_another_thread(content), before);
}

}  // namespace
}  // namespace fovea
