// The session of the last question, for who asks several of one input: a large run takes seconds.
#pragma once

#include <optional>
#include <string>

#include "fovea/ask/session.h"

namespace fovea {

class KeptSession {
 public:
  // The kept one where it is of the same model and input, else one that is opened. The input is as
  // parse_input() takes it, or has a "picture", the name of a file, in place of a text.
  const Session& open(const std::string& model, const Json& input);

 private:
  std::string key_;
  std::optional<Session> session_;
};

}  // namespace fovea
