#include "fovea/cli/model_options.h"

#include <filesystem>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/cli/ask_options.h"
#include "fovea/cli/terminal.h"
#include "fovea/engine/input_file.h"
#include "fovea/engine/translator.h"

namespace fovea {
namespace {

// The script of an installation that fetches models; empty: there is none.
std::filesystem::path installed_script() {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
  const fs::path script = program.parent_path().parent_path() / "share/fovea/tools/fetch_models.py";
  return file_exists(script) ? script : fs::path();
}

[[noreturn]] void fail_without(std::string_view default_model) {
  const ModelCaches caches = ModelCaches::from_environment();
  if (default_model != kDefaultTextModel && default_model != kDefaultCausalModel) {
    fail(ErrorKind::kNotFound,
         "no model is named and the default one, {}, which comes with fovea, is not in {}; name "
         "one with -m, or the folder that holds it with FOVEA_MODELS",
         default_model, caches.bundled.back().string());
  }
  const std::filesystem::path script = installed_script();
  fail(ErrorKind::kNotFound,
       "no model is named and the default one, {}, is not in {}; name one with -m, or {}",
       default_model, caches.models.string(),
       script.empty() ? "start fovea through ./run with a network, which fetches it"
                      : fmt::format("fetch it with `python3 {}`", script.string()));
}

}  // namespace

Fetching fetching() {
  const std::filesystem::path script = installed_script();
  if (script.empty()) return {"python3 tools/fetch_models.py", " in fovea’s source folder"};
  return {fmt::format("python3 {}", script.string()), ""};
}

std::vector<Option> model_options(std::string_view default_model) {
  return {
      Option::text("model", "NAME",
                   fmt::format("a folder, a .gguf file, a fetched name or a hub id in the cache "
                               "(default: {})",
                               default_model))
          .with_letter('m'),
      Option::choice("dtype", {"f32", "i16"},
                     "the numbers that are multiplied have 32 bits, or 16, which is up to "
                     "twice as fast and moves maps by 2e-2 at most")
          .with_aliases({{"bf16", "i16"}})  // what it was called first
          .with_default("f32")};
}

std::string model_name(const Args& args, std::string_view default_model) {
  return args.has("model") ? args["model"] : std::string(default_model);
}

EngineOptions engine_options(const Args& args) {
  return {.compute = args["dtype"] == "i16" ? DType::kI16 : DType::kF32};
}

Engine open_engine(const Args& args, std::string_view default_model) {
  const EngineOptions options = engine_options(args);
  if (args.has("model")) return Engine::open(args["model"], options);
  if (args.knows("chat") && args.flag("chat")) default_model = kDefaultCausalModel;
  if (!is_at_hand(default_model)) fail_without(default_model);
  return Engine::open(default_model, options);
}

std::string_view default_model_for(const GivenInput& given, bool two_stacks) {
  if (given.kind == GivenInput::Kind::kPicture) {
    return two_stacks ? kDefaultDetectionModel : kDefaultPictureModel;
  }
  return two_stacks ? kDefaultTranslationModel : kDefaultTextModel;
}

bool is_of_two_stacks(std::optional<SiteKind> site) {
  return site == SiteKind::kEncoderSelf || site == SiteKind::kDecoderSelf ||
         site == SiteKind::kCross;
}

Positional input_positional() {
  return {.name = "INPUT", .help = "the text, in quotes", .required = false};
}

Positional any_input_positional() {
  return {.name = "INPUT",
          .help = "the text, in quotes, or a picture file for a model that sees pictures",
          .required = false};
}

std::vector<Option> input_options() {
  return joined(
      input_field_options({"pair", "chat", "system", "target", "from", "to"}),
      {Option::text("text-file", "FILE", "read the text from a file instead"),
       Option::text("inputs", "FILE.safetensors",
                    "token ids instead of a text: input_ids, token_type_ids, attention_mask, "
                    "decoder_input_ids; or input_features, or pixel_values with pixel_mask")});
}

void check_reads_text(const Engine& engine) {
  const ModelFacts& facts = engine.facts();
  if (!facts.takes_pixels() || facts.takes_text()) return;
  fail(ErrorKind::kInvalidArgument,
       "{} sees pictures and reads no text; give it a picture file (`fovea {} FILE`) or "
       "pixel_values (--inputs)",
       engine.name(), facts.finds_objects() ? "detect" : "image");
}

void print_warnings(const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) add_note(warning);
}

std::vector<Option> joined(std::vector<Option> first, std::vector<Option> second) {
  first.insert(first.end(), std::make_move_iterator(second.begin()),
               std::make_move_iterator(second.end()));
  return first;
}

}  // namespace fovea
