// Runs: which there are, and how one is made.
#include <algorithm>

#include "fovea/base/sha256.h"
#include "fovea/render/png.h"
#include "fovea/server/caching.h"
#include "fovea/server/resource.h"
#include "fovea/server/run_facts.h"
#include "fovea/server/server_state.h"

namespace fovea {
namespace {

constexpr std::string_view kBody = "the request";
constexpr size_t kHashDigits = 32;

// What a request asks to be run.
struct Order {
  std::string model;
  DType compute = DType::kF32;
  Input input;
  std::shared_ptr<const Upload> upload;  // null: a text
};

DType compute_of(const Json& json) {
  const Json* dtype = json.find("dtype");
  if (dtype == nullptr || dtype->is_null()) return DType::kF32;
  const std::string& name = dtype->is_string() ? dtype->as_string(kBody) : dtype->dump();
  if (name == "f32") return DType::kF32;
  if (name == "i16") return DType::kI16;
  fail(ErrorKind::kInvalidArgument, Field{"dtype"}, "it is {} but must be f32 or i16",
       dtype->dump());
}

// The settings of the input, which may stand inside of "input" or beside it.
Json input_settings(const Json& json) {
  const Json* input = json.find("input");
  if (input == nullptr || !input->is_object()) {
    fail(ErrorKind::kInvalidArgument, Field{"input"},
         "it must be an object with a text or an upload");
  }
  Json settings = Json::object();
  for (const auto& [name, value] : input->as_object(kBody)) {
    if (name != "upload") settings.set(name, value);
  }
  for (const auto& [name, value] : json.as_object(kBody)) {
    if (name == "model" || name == "input" || name == "dtype") continue;
    if (settings.find(name) != nullptr) {
      fail(ErrorKind::kInvalidArgument, Field{name},
           "it is given twice, in the input and beside "
           "it");
    }
    settings.set(name, value);
  }
  return settings;
}

Order run_order(const Call& call) {
  Json json;
  try {
    json = Json::parse(call.request.body, kBody);
  } catch (const Error& error) {
    throw HttpProblem(400, error.what());
  }
  if (!json.is_object()) throw HttpProblem(400, "the body must be a JSON object");
  Order order{.compute = compute_of(json), .input = parse_input(input_settings(json))};
  if (const Json* model = json.find("model"); model != nullptr && !model->is_null()) {
    if (!model->is_string()) {
      fail(ErrorKind::kInvalidArgument, Field{"model"}, "it is {} but must be a name",
           model->dump());
    }
    order.model = model->as_string(kBody);
  }
  if (const Json* upload = json.at("input", kBody).find("upload")) {
    if (!upload->is_string()) {
      fail(ErrorKind::kInvalidArgument, Field{"upload"}, "it is {} but must be what an upload gave",
           upload->dump());
    }
    if (std::holds_alternative<Text>(order.input.what)) {
      fail(ErrorKind::kInvalidArgument, Field{"upload"}, "give a text or an upload, not both");
    }
    order.upload = call.state.uploads.upload(upload->as_string(kBody));
    if (order.upload->picture) {
      order.input.what = PictureBytes{.bytes = *order.upload->picture, .name = order.upload->name};
    } else if (order.upload->inputs) {
      order.input.what = *order.upload->inputs;
    }
  }
  return order;
}

// Of everything that decides the maps.
std::string hash_of(const Order& order, const Engine& engine) {
  Input settings = order.input;
  settings.what = {};
  Hasher hasher = Hasher::sha256();
  const auto add = [&](std::string_view text) {
    hasher.update(as_bytes(fmt::format("{}:", text.size())));
    hasher.update(as_bytes(text));
  };
  add("fovea run 1");
  add(engine.model_hash());
  add(order.compute == DType::kI16 ? "i16" : "f32");
  add(to_json(settings).dump());
  const auto* text = std::get_if<Text>(&order.input.what);
  add(text == nullptr ? "upload" : "text");
  add(text == nullptr ? order.upload ? order.upload->id : "" : text->text);
  return hasher.hex().substr(0, kHashDigits);
}

// A captured run or an array needs no model: it is there at once.
void answer_with_upload(const Call& call, const Upload& upload) {
  const auto run = call.state.runs.add(std::make_shared<OpenRun>(
      upload.id, *upload.run, /*captured=*/false, upload.name, std::vector<FileStamp>()));
  call.exchange->begin({.type = "application/x-ndjson"});
  call.exchange->send(Json::object({{"run", run->hash()}}).dump() + "\n");
  call.exchange->end();
}

void stream_run(const Call& call) {
  call.check_query({});
  Order order = run_order(call);
  if (order.upload && order.upload->run) {
    if (!order.model.empty()) {
      fail(ErrorKind::kInvalidArgument, Field{"model"},
           "the upload is a run already; leave the model out");
    }
    return answer_with_upload(call, *order.upload);
  }
  if (order.model.empty()) {
    fail(ErrorKind::kInvalidArgument, Field{"model"}, "it must be given");
  }
  const Engine engine = call.state.models.engine(order.model, order.compute);
  const std::string hash = hash_of(order, engine);
  const auto open = [&](RunMaker::OnWord on_word) {
    if (order.input.generate) {
      order.input.generate->on_token = [engine, on_word = std::move(on_word)](int64_t id) {
        const int32_t token[] = {static_cast<int32_t>(id)};
        on_word(engine.tokenizer().decode(token));
      };
    }
    // Values too: they are there to be looked at.
    return Session::open(engine, std::move(order.input), {.values = true});
  };
  call.state.maker.make(hash, open, call.exchange, call.state.runs);
}

WebResponse answer_runs(const Call& call) {
  call.check_query({});
  Json runs = Json::array();
  for (const auto& run : call.state.runs.all()) runs.push_back(run_summary(*run));
  return json_response(Json::object({{"runs", std::move(runs)}}));
}

WebResponse answer_run(const Call& call) {
  call.check_query({});
  WebResponse response = json_response(run_facts(*call.state.runs.run(call.name("hash"))));
  return response;
}

// As the model saw it: the cells of a grid lie over it in equal parts.
WebResponse answer_picture(const Call& call) {
  call.check_query({});
  if (const std::string tag = tag_of(call.request); has_tag(call.request, tag)) {
    return not_modified(tag);
  }
  const std::shared_ptr<const FinishedRun> run = call.state.runs.run(call.name("hash"))->finished();
  const Tensor& pixels = run->run().picture;
  if (pixels.empty()) throw HttpProblem(404, "this run has no picture");
  Picture picture(pixels.size(1), pixels.size(0));
  std::ranges::copy(pixels.values<uint8_t>(), picture.bytes.begin());
  constexpr int kQuickly = 1;
  return immutable(
      bytes_response(encode_png(picture, {.compression = kQuickly, .rows_repeat = false}),
                     "image/png"),
      tag_of(call.request));
}

}  // namespace

Resource runs_resource() {
  return {{{.method = "GET",
            .pattern = "/v1/runs",
            .summary = "the runs that are open",
            .lane = Lane::kQuick,
            .answer = answer_runs},
           {.method = "POST",
            .pattern = "/v1/runs",
            .summary = "runs a model; progress as lines of JSON",
            .lane = Lane::kWork,
            .body = kMostJsonBytes,
            .stream = stream_run},
           {.method = "GET",
            .pattern = "/v1/runs/{hash}/picture",
            .summary = "the picture of a run, as the model saw it",
            .lane = Lane::kWork,
            .answer = answer_picture},
           {.method = "GET",
            .pattern = "/v1/runs/{hash}",
            .summary = "what a run is",
            .lane = Lane::kWork,
            .answer = answer_run}}};
}

}  // namespace fovea
