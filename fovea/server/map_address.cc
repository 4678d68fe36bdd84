#include "fovea/server/map_address.h"

#include <limits>

#include "fovea/base/error.h"
#include "fovea/server/server_state.h"

namespace fovea {
namespace {

HeadChoice addressed_head(const std::string& text) {
  HeadChoice head;
  try {
    head = parse_head(text);
  } catch (const Error& error) {
    throw Error(ErrorKind::kInvalidArgument, Field{"head"}, error.what());
  }
  if (head.kind == HeadChoice::Kind::kAll) {
    fail(ErrorKind::kInvalidArgument, Field{"head"},
         "one map is asked for; give a number, mean, max or min");
  }
  return head;
}

}  // namespace

ServedMap addressed_choice(const Call& call) {
  ServedMap choice;
  try {
    choice.site.kind = parse_site_kind(call.name("site"));
  } catch (const Error& error) {
    throw Error(ErrorKind::kNotFound, Field{"site"}, error.what());
  }
  const int64_t layer = call.number("layer");
  if (layer > std::numeric_limits<int>::max()) {
    fail(ErrorKind::kNotFound, Field{"layer"}, "{} is no layer", layer);
  }
  choice.site.layer = static_cast<int>(layer);
  choice.head = addressed_head(call.name("head"));
  const std::string of = call.query("of");
  if (!of.empty()) choice.value = map_value_named(of);
  return choice;
}

AddressedMap addressed_map(const Call& call) {
  AddressedMap map{.run = call.state.runs.run(call.name("hash")), .choice = addressed_choice(call)};
  const auto record = map.run->record(map.choice.site);
  if (map.choice.head.kind == HeadChoice::Kind::kOne) {
    const int64_t heads = record->shape().heads;
    if (map.choice.head.head >= heads) {
      fail(ErrorKind::kNotFound, Field{"head"}, "{} is no head of {}, which has 0 to {}",
           map.choice.head.head, to_string(map.choice.site), heads - 1);
    }
  }
  return map;
}

int64_t addressed_position(const Call& call, std::string_view name, int64_t count) {
  const int64_t position = call.number(name);
  if (position < count) return position;
  fail(ErrorKind::kNotFound, Field{name}, "{} is none of the {} positions, 0 to {}", position,
       count, count - 1);
}

}  // namespace fovea
