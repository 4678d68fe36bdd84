#include "fovea/server/model_shelf.h"

#include <fmt/ranges.h>

#include "fovea/base/error.h"
#include "fovea/base/suggest.h"
#include "fovea/server/http_response.h"

namespace fovea {

void ModelShelf::add(const std::string& name, const std::string& place) {
  const auto [found, is_new] = entries_.emplace(name, nullptr);
  if (!is_new) {
    if (found->second->place == place) return;
    fail(ErrorKind::kInvalidArgument,
         "{} and {} would both be called {}; rename one, or serve them apart", found->second->place,
         place, name);
  }
  found->second = std::make_unique<Entry>();
  found->second->place = place;
}

std::vector<std::string> ModelShelf::names() const {
  std::vector<std::string> names;
  for (const auto& [name, entry] : entries_) names.push_back(name);
  return names;
}

ModelShelf::Entry& ModelShelf::entry(std::string_view name) {
  const auto found = entries_.find(name);
  if (found != entries_.end()) return *found->second;
  const std::vector<std::string> all = names();
  if (all.empty()) {
    fail(ErrorKind::kNotFound, Field{"model"}, "the server was started without a model");
  }
  fail(ErrorKind::kNotFound, Field{"model"}, "'{}' is no model of this server; it has {}{}", name,
       fmt::join(all, ", "), did_you_mean(name, all));
}

Engine ModelShelf::engine(std::string_view name, DType compute) {
  Entry& asked = entry(name);
  const std::lock_guard lock(asked.mutex);
  for (const FileStamp& stamp : std::vector<FileStamp>(asked.stamps)) {
    const FileStamp now = stamp_of(stamp.file);
    if (now == stamp) continue;
    asked.engines.clear();
    asked.stamps.clear();
    asked.facts.reset();
    if (now.number == 0) {
      fail(ErrorKind::kBadFile, Field{"model"},
           "{} has lost its file {}; put it back and ask again", name,
           stamp.file.filename().string());
    }
    break;
  }
  if (const auto found = asked.engines.find(compute); found != asked.engines.end()) {
    return found->second;
  }
  try {
    Engine opened = Engine::open(asked.place, {.compute = compute});
    asked.stamps = stamps_of(opened);
    asked.engines.emplace(compute, opened);
    return opened;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kCancelled) throw;
    // The folder's place is nobody's business over a network.
    std::string message = error.what();
    if (message.starts_with(asked.place)) {
      message = std::string(name) + message.substr(asked.place.size());
    }
    throw Error(error.kind() == ErrorKind::kNotFound ? ErrorKind::kBadFile : error.kind(),
                Field{"model"}, message);
  }
}

Json ModelShelf::facts(std::string_view name) {
  Entry& asked = entry(name);
  {
    const std::lock_guard lock(asked.mutex);
    if (asked.facts) return *asked.facts;
  }
  Json json = Json::object({{"name", name}});
  try {
    const Engine opened = engine(name, DType::kF32);
    const ModelFacts& facts = opened.facts();
    json.set("architecture", opened.architecture().name);
    json.set("model_type", opened.checkpoint().config.model_type());
    Json takes = Json::array();
    if (facts.takes_text()) takes.push_back("text");
    if (facts.takes_pixels()) takes.push_back("picture");
    if (facts.takes_features()) takes.push_back("sound");
    json.set("takes", std::move(takes));
    json.set("translates", facts.has_decoder() && facts.takes_text());
    json.set("writes", facts.head == HeadKind::kCausalLm);
    json.set("finds_objects", facts.finds_objects());
    json.set("layers", facts.main.layers);
    json.set("heads", facts.main.heads);
    json.set("most_tokens", facts.most_positions());
    if (!opened.checkpoint().note.empty()) json.set("note", opened.checkpoint().note);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kCancelled) throw;
    json.set("error", error_json(error).at("error", ""));
    return json;  // another try may go better
  }
  const std::lock_guard lock(asked.mutex);
  asked.facts = json;
  return json;
}

}  // namespace fovea
