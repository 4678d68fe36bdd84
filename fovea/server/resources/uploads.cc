// Files that come with a request.
#include "fovea/base/utf8.h"
#include "fovea/server/resource.h"
#include "fovea/server/server_state.h"

namespace fovea {
namespace {

WebResponse answer_upload(const Call& call) {
  call.check_query({"name"});
  if (call.request.body.empty()) throw HttpProblem(400, "an upload needs a body, the file's bytes");
  // For messages only: nothing is opened by it.
  constexpr int kShortName = 80;
  std::string name = shorten(to_one_line(call.query("name")), kShortName);
  if (name.empty()) name = "the upload";
  const auto upload = call.state.uploads.add(call.request.body, name);
  return json_response(upload->facts);
}

}  // namespace

Resource uploads_resource() {
  return {{{.method = "POST",
            .pattern = "/v1/uploads",
            .summary = "a picture, a captured run, arrays of weights, or inputs of a model",
            .lane = Lane::kWork,
            .body = kMostUploadBytes,
            .answer = answer_upload}}};
}

}  // namespace fovea
