#include "fovea/cli/gallery/kept_session.h"

#include "fovea/base/file.h"
#include "fovea/cli/ask_options.h"

namespace fovea {
namespace {

constexpr std::string_view kOfKept = "an input";

Session opened_session(const std::string& model, const Json& input) {
  Json settings = Json::object();
  for (const auto& [name, value] : input.as_object(kOfKept)) {
    if (name == "text_file") {
      settings.set("text", read_text_file(value.as_string(kOfKept)));
    } else if (name != "picture") {
      settings.set(name, value);
    }
  }
  Input asked = parse_input(settings);
  const Json* picture = input.find("picture");
  if (picture != nullptr) asked.what = read_picture_bytes(picture->as_string(kOfKept));
  // Maps over a picture are of queries and keys alone, and its values are large.
  return Session::open(Engine::open(model), std::move(asked), {.values = picture == nullptr});
}

}  // namespace

const Session& KeptSession::open(const std::string& model, const Json& input) {
  const std::string key = model + "\n" + input.dump();
  if (session_ && key == key_) return *session_;
  session_.reset();  // two large runs need not fit into memory
  session_ = opened_session(model, input);
  key_ = key;
  return *session_;
}

}  // namespace fovea
