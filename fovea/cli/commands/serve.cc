#include <spawn.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/watch.h"
#include "fovea/capture/run_file.h"
#include "fovea/checkpoint/resolve.h"
#include "fovea/cli/command.h"
#include "fovea/cli/interrupt.h"
#include "fovea/cli/terminal.h"
#include "fovea/engine/model_info.h"
#include "fovea/server/page_server.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMegabyte = 1'000'000;

// "gpt2" of "models/gpt2/" and "tiny" of "models/tiny.gguf".
std::string last_name(const fs::path& path) {
  const fs::path clean = path.lexically_normal();
  const fs::path name = clean.has_filename() ? clean.filename() : clean.parent_path().filename();
  return lower_suffix(name) == ".gguf" ? name.stem().string() : name.string();
}

bool is_model_folder(const fs::path& path) {
  return file_exists(path / "config.json");
}

// The runs and the .gguf files that lie in the folder itself.
void add_folder(const fs::path& folder, ServeOptions& options) {
  std::set<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    files.insert(it->path());
  }
  if (error) fail(ErrorKind::kIo, "{}: cannot be read: {}", folder.string(), error.message());
  size_t found = 0;
  for (const fs::path& file : files) {
    const std::string suffix = lower_suffix(file);
    if (suffix == ".gguf" || (is_folder(file) && is_model_folder(file))) {
      options.models.push_back({last_name(file), file.string()});
      ++found;
    } else if (suffix == ".safetensors") {
      try {
        if (!holds_run(SafetensorsFile::open(file))) continue;
        options.runs.push_back(served_run(file.string()));
        ++found;
      } catch (const Error& problem) {
        if (problem.kind() == ErrorKind::kCancelled) throw;
        add_note(fmt::format("left out: {}", problem.what()));
      }
    }
  }
  if (found == 0) {
    add_note(fmt::format("{} holds no run and no model; runs below it are not looked for",
                         folder.string()));
  }
}

void add_path(const std::string& word, ServeOptions& options) {
  const fs::path path = word;
  const std::string suffix = lower_suffix(path);
  if (is_folder(path)) {
    if (!is_model_folder(path)) return add_folder(path, options);
    options.models.push_back({last_name(path), word});
  } else if (suffix == ".gguf" && file_exists(path)) {
    options.models.push_back({last_name(path), word});
  } else if (suffix == ".safetensors" || suffix == ".npy" || suffix == ".npz") {
    options.runs.push_back(served_run(word));
  } else {
    static_cast<void>(resolve_model(word));  // says where was looked
    options.models.push_back({word, word});
  }
}

// Those at hand under their own names, unless a model that was asked for has the name.
void add_models_at_hand(ServeOptions& options) {
  for (const LocalModel& model : local_models(ModelCaches::from_environment())) {
    const bool taken = std::ranges::count(options.models, model.name, &ServedModel::name) > 0;
    if (model.supported && !taken) options.models.push_back({model.name, model.name});
  }
}

ServeOptions serve_options(const Args& args) {
  ServeOptions options;
  if (args.has("host")) options.host = args["host"];
  if (args.has("port")) {
    constexpr int64_t kLastPort = 65535;
    const int64_t port = args.integer("port");
    if (port > kLastPort) {
      fail(ErrorKind::kInvalidArgument, "--port is {} but must be {} or less", port, kLastPort);
    }
    options.port = static_cast<uint16_t>(port);
  }
  if (args.has("token")) options.token = args["token"];
  if (args.has("memory")) {
    constexpr int64_t kEnough = 1'000'000'000;  // more megabytes than any machine has
    options.memory = static_cast<uint64_t>(std::min(args.integer("memory"), kEnough)) * kMegabyte;
  }
  if (args.has("PATH")) {
    for (const std::string& word : args.all("PATH")) add_path(word, options);
  }
  add_models_at_hand(options);
  return options;
}

// False: there is nothing to open it with.
bool open_browser(const std::string& url) {
#ifdef __APPLE__
  std::string program = "open";
#else
  const auto is_set = [](const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr && *value != '\0';
  };
  if (!is_set("DISPLAY") && !is_set("WAYLAND_DISPLAY")) return false;
  std::string program = "xdg-open";
#endif
  std::string address = url;
  char* const words[] = {program.data(), address.data(), nullptr};
  pid_t ignored = 0;
  return ::posix_spawnp(&ignored, program.c_str(), nullptr, nullptr, words, environ) == 0;
}

std::string how_many(size_t count, const char* one, const char* many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

void run_serve(const Args& args) {
  const InterruptGuard guard;
  ServeOptions options = serve_options(args);
  const size_t models = options.models.size(), runs = options.runs.size();
  PageServer server(std::move(options));
  const std::string url = server.url();
  write_stdout(fmt::format("fovea serves {} and {} at {}\n", how_many(runs, "run", "runs"),
                           how_many(models, "model", "models"), url));
  if (args.flag("open") && !open_browser(url)) {
    add_note("there is no display to open it on; open the address in a browser");
    write_notes();
  }
  // What the server does is cancelled request by request.
  const InScope outside(nullptr);
  server.serve([] { return interrupt_waits(); });
  take_interrupt();
}

}  // namespace

Command serve_command() {
  return {
      .name = "serve",
      .summary = "a server for the page and for programs, on this machine",
      .details =
          "Prints its address and serves until Ctrl-C. Models at hand are served under their\n"
          "names, and beside them what is named: captured runs, arrays of weights, models, and\n"
          "folders. A folder with config.json is a model; another is searched for runs and\n"
          "models, but not the folders in it. docs/page.md lists what the server answers.\n"
          "\n"
          "Only this machine can reach it. With --host others can, and a token that is made up\n"
          "at the start (or given with --token) stands in the address. There is no encryption;\n"
          "over a network, use `ssh -L 8756:localhost:8756 MACHINE` instead.\n"
          "\n"
          "examples:\n"
          "  fovea serve\n"
          "  fovea serve --open run.fovea.safetensors\n"
          "  fovea serve --port 9000 runs/ models/my-bert\n",
      .positionals = {{.name = "PATH",
                       .help = "a captured run, an array of weights, a model, or a folder",
                       .required = false,
                       .several = true}},
      .options = {Option::integer("port", "P",
                                  "the port (default: 8756, or the next that is free); 0: any", 0),
                  Option::flag("open", "open the page in a browser"),
                  Option::text("host", "ADDRESS",
                               "listen there, where other machines may reach it (default: "
                               "127.0.0.1)"),
                  Option::text("token", "TEXT",
                               "what requests must bring (default: none on this machine alone, "
                               "else made up)"),
                  Option::integer("memory", "MB",
                                  "for runs, uploads and tiles (default: half of what is free)",
                                  64)},
      .run = run_serve,
      .leaves_team = true};
}

}  // namespace fovea
