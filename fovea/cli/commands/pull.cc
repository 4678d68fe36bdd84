#include "fovea/checkpoint/pull.h"
#include <algorithm>
#include <chrono>
#include <optional>

#include "fovea/base/error.h"
#include "fovea/base/json.h"
#include "fovea/base/progress.h"
#include "fovea/base/watch.h"
#include "fovea/checkpoint/resolve.h"
#include "fovea/cli/command.h"
#include "fovea/cli/interrupt.h"
#include "fovea/cli/terminal.h"

namespace fovea {
namespace {

uint64_t total_bytes(const PulledModel& model) {
  uint64_t total = 0;
  for (const HubFile& file : model.files) total += file.size;
  return total;
}

Json pulled_json(const PulledModel& model) {
  Json files = Json::array();
  for (const HubFile& file : model.files) {
    files.push_back(Json::object({{"name", file.name}, {"bytes", size_t{file.size}}}));
  }
  Json json = Json::object(
      {{"model", model.name.text()}, {"commit", model.commit}, {"folder", model.folder.string()}});
  json.set("files", std::move(files));
  json.set("downloaded_bytes", size_t{model.downloaded_bytes});
  return json;
}

std::string pulled_text(const PulledModel& model, const std::string& file) {
  const std::string what = model.downloaded_bytes == 0
                               ? "all there already, nothing was downloaded"
                               : format_bytes(model.downloaded_bytes) + " downloaded";
  const std::string try_it = file.empty() ? model.name.text() : (model.folder / file).string();
  return fmt::format("{}: {} files, {}; {}\n{}\ntry: fovea info -m {}\n", model.name.text(),
                     model.files.size(), format_bytes(total_bytes(model)), what,
                     model.folder.string(), try_it);
}

void run_pull(const Args& args) {
  const std::optional<HubName> name = HubName::parse(args["MODEL"]);
  if (!name) {
    fail(ErrorKind::kInvalidArgument,
         "'{}' is no model of the hub; give ORG/NAME or ORG/NAME@REVISION", args["MODEL"]);
  }
  HubSettings settings = HubSettings::from_environment();
  settings.retries = static_cast<int>(std::min<int64_t>(args.integer("retries"), 1000));
  const double seconds = std::min(args.real("retry-delay"), 60.0);
  settings.retry_delay = std::chrono::milliseconds(static_cast<int64_t>(seconds * 1000));
  const std::string file = args.has("file") ? args["file"] : "";
  const std::filesystem::path cache = ModelCaches::from_environment().hub;

  // An interrupt may end the download anywhere: what is there is gone on with. Publishing is short
  // and not to be cut.
  Hub hub(settings);
  const PulledModel model = download_model(hub, *name, file, cache);
  {
    const InterruptGuard guard;
    const InScope finished(nullptr);
    publish_model(model, cache);
  }
  write_stdout(args.flag("json") ? pulled_json(model).dump(1) + "\n" : pulled_text(model, file));
}

}  // namespace

Command pull_command() {
  return {
      .name = "pull",
      .summary = "download a model from the Hugging Face hub, with resume and checksums",
      .details =
          "What fovea reads goes to the Hugging Face cache, where other programs find it:\n"
          "configuration, tokenizer, and the weights as safetensors, else as .bin files.\n"
          "Broken off, the same command goes on where it was.\n"
          "\n"
          "environment:\n"
          "  HF_TOKEN, or the file HF_HOME/token   for private and gated models\n"
          "  HF_HOME, HF_HUB_CACHE                 where the cache is\n"
          "  HF_ENDPOINT                           another hub than https://huggingface.co\n"
          "  HF_HUB_OFFLINE=1                      refuse to download\n"
          "  https_proxy, no_proxy, SSL_CERT_FILE  the way out, and whom to trust\n"
          "\n"
          "examples:\n"
          "  fovea pull sentence-transformers/all-MiniLM-L6-v2\n"
          "  fovea pull google-bert/bert-base-uncased@main\n"
          "  fovea pull Qwen/Qwen3-0.6B-GGUF --file Qwen3-0.6B-Q8_0.gguf\n",
      .positionals = {{.name = "MODEL",
                       .help = "ORG/NAME, or ORG/NAME@REVISION",
                       .is_file = false}},
      .options = {Option::text("file", "NAME",
                               "this file instead of the usual weights, a .gguf say"),
                  Option::integer("retries", "N", "how often to go on after a cut connection", 0)
                      .with_default("5"),
                  Option::real("retry-delay", "SECONDS",
                               "before the first retry; doubles with each, 60 at most", 0)
                      .with_default("1"),
                  Option::flag("json", "print where it is and what was downloaded as JSON")},
      .run = run_pull};
}

}  // namespace fovea
