#include "fovea/base/error.h"
#include "fovea/text/jinja/template.h"
#include "fuzz/fuzz_touch.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fovea::jinja;
  const std::string source(reinterpret_cast<const char*>(data), size);
  const Dict user{.items = {{"role", "user"}, {"content", "Hällo <think>a</think>"}}};
  const Dict assistant{.items = {{"role", "assistant"}, {"content", " b "}}};
  const Dict variables{.items = {{"messages", List{.items = {user, assistant}}},
                                 {"tools", Value()},
                                 {"add_generation_prompt", true},
                                 {"bos_token", "<s>"}}};
  try {
    static_cast<void>(Template::parse(source, "input").render(variables, 0));
  } catch (const fovea::Error&) {
  }
  return 0;
}
