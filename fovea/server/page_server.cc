#include "fovea/server/page_server.h"

#include <chrono>
#include <filesystem>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/process_memory.h"
#include "fovea/base/sha256.h"
#include "fovea/base/team.h"
#include "fovea/base/watch.h"
#include "fovea/capture/array_file.h"
#include "fovea/capture/array_run.h"
#include "fovea/capture/run_file.h"
#include "fovea/checkpoint/fingerprint.h"
#include "fovea/server/guard.h"
#include "fovea/server/router.h"
#include "fovea/server/server_state.h"
#include "fovea/server/static_files.h"

namespace fovea {
namespace {

constexpr int kPortsTried = 20;
constexpr uint64_t kUsualMemory = uint64_t{2} << 30;  // where the system does not say what is free
constexpr uint64_t kMostTileMemory = uint64_t{256} << 20;
constexpr auto kUploadTime = std::chrono::hours(1);

uint64_t server_memory(const ServeOptions& options) {
  if (options.memory) return *options.memory;
  const auto available = available_memory_bytes();
  return available ? *available / 2 : kUsualMemory;
}

// Whoever asks for more than the server takes at once should come back.
WebResponse busy_response() {
  WebResponse response = problem_response(503, "too many requests wait already; try again later");
  response.headers.emplace_back("Retry-After", "1");
  return response;
}

template <typename Work>
WebResponse answered_by(const Work& work) {
  try {
    return work();
  } catch (const HttpProblem& problem) {
    return problem_response(problem.status(), problem.what());
  } catch (const Error& error) {
    return error_response(error);
  } catch (const std::bad_alloc&) {
    return error_response(Error(ErrorKind::kOutOfMemory, "there is not enough memory for this"));
  } catch (const std::exception& error) {
    return error_response(Error(ErrorKind::kInternal,
                                fmt::format("unexpected: {}; please report this", error.what())));
  }
}

std::string shown_host(const std::string& host) {
  if (host == "0.0.0.0" || host == "::") return is_loopback_name(host) ? host : "localhost";
  return host.find(':') == host.npos ? host : "[" + host + "]";
}

}  // namespace

ServerState::ServerState(uint64_t memory_bytes, int tile_threads)
    : memory(memory_bytes),
      runs(memory_bytes),
      uploads(std::max(memory_bytes / 4, kMostUploadBytes)),
      tiles(std::make_shared<TileCache>(std::min(memory_bytes / 4, kMostTileMemory))),
      quick_lane(1, 1000),
      tile_lane(tile_threads, 1000),
      work_lane(4, 32),
      exact([this] { return tile_lane.size() > 0; }) {}

struct PageServer::State {
  explicit State(ServeOptions given);

  uint64_t admit(WebRequest& request) const;
  void handle(const std::shared_ptr<Exchange>& exchange);
  void work_on(const FoundRoute& found, const std::shared_ptr<Exchange>& exchange);
  WorkQueue& lane(Lane lane) {
    return lane == Lane::kQuick  ? server.quick_lane
           : lane == Lane::kTile ? server.tile_lane
                                 : server.work_lane;
  }

  ServeOptions options;
  Guard guard;
  Router router;
  ServerState server;
  std::unique_ptr<HttpServer> http;
};

PageServer::State::State(ServeOptions given)
    : options(std::move(given)),
      guard({.host = options.host, .token = options.token}),
      router(all_resources()),
      server(server_memory(options), thread_count()) {
  for (const ServedModel& model : options.models) server.models.add(model.name, model.place);
  for (const ServedRun& run : options.runs) {
    server.runs.add(std::make_shared<OpenRun>(run.hash, run.session, /*captured=*/true, run.name,
                                              std::vector{stamp_of(run.path)}));
  }
}

uint64_t PageServer::State::admit(WebRequest& request) const {
  guard.check(request);
  const FoundRoute found = router.find(request);
  if (found.route != nullptr) return found.route->body;
  if (!request.is_get()) throw HttpProblem(405, "this address takes GET only");
  return 0;
}

void PageServer::State::work_on(const FoundRoute& found,
                                const std::shared_ptr<Exchange>& exchange) {
  const Call call{server, exchange->request(), found.names, exchange};
  if (exchange->cancel().cancelled()) {
    ++server.counts.cancelled;
    return exchange->answer(error_response(Error(ErrorKind::kCancelled, "the client has gone")));
  }
  if (found.route->stream != nullptr) {
    // What goes wrong before its first line has a status of its own.
    exchange->answer(answered_by([&] {
      found.route->stream(call);
      return problem_response(500, "the request was dropped");
    }));
  } else {
    WebResponse response = answered_by([&] {
      const WatchScope scope({.cancel = exchange->cancel()});
      return found.route->answer(call);
    });
    if (exchange->cancel().cancelled()) ++server.counts.cancelled;
    exchange->answer(std::move(response));
  }
  ++server.counts.answered;
}

void PageServer::State::handle(const std::shared_ptr<Exchange>& exchange) {
  const FoundRoute found = router.find(exchange->request());
  if (found.route == nullptr) {
    WebResponse response =
        answered_by([&] { return static_response(exchange->request(), server); });
    if (const std::string cookie = guard.cookie(exchange->request()); !cookie.empty()) {
      response.headers.emplace_back("Set-Cookie", cookie);
    }
    return exchange->answer(std::move(response));
  }
  // Who waits for a whole map must not keep others from their tiles.
  const bool waits = exchange->request().find_query("exact") != nullptr;
  const bool taken = lane(waits ? Lane::kWork : found.route->lane).submit([this, found, exchange] {
    work_on(found, exchange);
  });
  if (!taken) exchange->answer(busy_response());
}

ServedRun served_run(const std::string& path) {
  constexpr size_t kHashDigits = 32;
  Hasher hasher = Hasher::sha256();
  hasher.update(as_bytes("fovea captured run 1"));
  add_sampled(hasher, path);
  const std::string hash = hasher.hex().substr(0, kHashDigits);
  const std::string name = std::filesystem::path(path).filename().string();
  bool is_run = !is_array_name(path);
  if (is_run) is_run = holds_run(SafetensorsFile::open(path));
  return {name, hash, is_run ? Session::of(load_run(path)) : Session::of(open_arrays(path)),
          std::filesystem::absolute(path)};
}

PageServer::PageServer(ServeOptions options) {
  if (options.token.empty() && !is_loopback_name(options.host)) options.token = random_token();
  state_ = std::make_unique<State>(std::move(options));
  State& state = *state_;
  const HttpHandler handler{
      .admit = [&state](WebRequest& request) { return state.admit(request); },
      .handle = [&state](const std::shared_ptr<Exchange>& exchange) { state.handle(exchange); }};
  HttpOptions http{.host = state.options.host,
                   .port = state.options.port.value_or(kUsualPort),
                   .most_connections = state.options.most_connections};
  for (int tries = 1;; ++tries, ++http.port) {
    try {
      state.http = std::make_unique<HttpServer>(http, handler);
      break;
    } catch (const Error& error) {
      const bool next = error.kind() == ErrorKind::kBusy && !state.options.port;
      if (!next || tries == kPortsTried) throw;
    }
  }
  state.server.connections = state.http->counts();
}

PageServer::~PageServer() = default;

std::string PageServer::url() const {
  const std::string token = state_->options.token.empty() ? "" : "?token=" + state_->options.token;
  return fmt::format("http://{}:{}/{}", shown_host(state_->options.host), state_->http->port(),
                     token);
}

void PageServer::serve(const std::function<bool()>& stop) {
  auto looked = std::chrono::steady_clock::now();
  state_->http->serve([&] {
    const auto now = std::chrono::steady_clock::now();
    if (now - looked > std::chrono::minutes(1)) {
      looked = now;
      state_->server.uploads.drop_unused(kUploadTime);
    }
    return stop();
  });
}

}  // namespace fovea
