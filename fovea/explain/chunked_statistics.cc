#include "fovea/explain/chunked_statistics.h"

#include <utility>
#include <vector>

#include "fovea/base/error.h"

namespace fovea {

CorpusStatistics& ChunkedStatistics::at(int64_t input) {
  const int64_t chunk = chunk_of(input);
  if (open_ && open_->number != chunk) close();
  if (!open_) open_ = Chunk{.number = chunk, .next = input, .sums = {}};
  open_->next = input + 1;
  return open_->sums;
}

bool ChunkedStatistics::holds(int64_t chunk) const {
  const int64_t group = chunk / kGroupChunks, place = chunk % kGroupChunks;
  if (group < groups_ || (open_ && open_->number == chunk)) return true;
  const auto found = later_.find(group);
  return found != later_.end() &&
         (place < found->second.chunks || found->second.later.contains(place));
}

void ChunkedStatistics::close() {
  add(*std::exchange(open_, std::nullopt));
  fold();
}

void ChunkedStatistics::add(Chunk chunk) {
  Group& group = later_[chunk.number / kGroupChunks];
  group.later.emplace(chunk.number % kGroupChunks, std::move(chunk.sums));
}

// What comes next in order moves into the sums.
void ChunkedStatistics::fold() {
  for (auto& [number, group] : later_) {
    while (!group.later.empty() && group.later.begin()->first == group.chunks) {
      group.sums.merge(group.later.begin()->second);
      group.later.erase(group.later.begin());
      ++group.chunks;
    }
  }
  while (!later_.empty() && later_.begin()->first == groups_ &&
         later_.begin()->second.chunks == kGroupChunks) {
    sums_.merge(later_.begin()->second.sums);
    later_.erase(later_.begin());
    ++groups_;
  }
}

// Those that are not yet in the sums of all groups.
std::vector<int64_t> ChunkedStatistics::later_chunks() const {
  std::vector<int64_t> chunks;
  for (const auto& [number, group] : later_) {
    for (int64_t place = 0; place < kGroupChunks; ++place) {
      const int64_t chunk = number * kGroupChunks + place;
      if (holds(chunk)) chunks.push_back(chunk);
    }
  }
  if (open_) chunks.push_back(open_->number);
  return chunks;
}

void ChunkedStatistics::merge(ChunkedStatistics other) {
  const auto check = [](const ChunkedStatistics& one, const std::vector<int64_t>& chunks) {
    for (const int64_t chunk : chunks) {
      if (!one.holds(chunk)) continue;
      fail(ErrorKind::kInvalidArgument,
           "both counts hold inputs from {} to {}, which are added up together; count them in one "
           "part",
           chunk * kChunkInputs, (chunk + 1) * kChunkInputs - 1);
    }
  };
  if (other.groups_ > 0) check(*this, {0});
  check(*this, other.later_chunks());
  check(other, later_chunks());
  if (other.groups_ > groups_) std::swap(*this, other);
  if (open_ && open_->complete()) close();
  if (!open_) open_ = std::exchange(other.open_, std::nullopt);
  if (open_ && open_->complete()) close();
  if (other.open_) other.close();
  for (auto& [number, group] : other.later_) add_group(number, std::move(group));
  fold();
}

// The first chunks of a group, which are summed already, are in one of the two at most.
void ChunkedStatistics::add_group(int64_t number, Group group) {
  Group& own = later_[number];
  if (group.chunks > 0) {
    own.chunks = group.chunks;
    own.sums = std::move(group.sums);
  }
  own.later.merge(group.later);
}

CorpusStatistics ChunkedStatistics::total() const {
  ChunkedStatistics whole = *this;
  if (whole.open_) whole.close();
  for (auto& [number, group] : whole.later_) {
    for (const auto& [place, sums] : group.later) group.sums.merge(sums);
    whole.sums_.merge(group.sums);
  }
  return std::move(whole.sums_);
}

Json ChunkedStatistics::to_json() const {
  Json groups = Json::array();
  for (const auto& [number, group] : later_) {
    Json later = Json::array();
    for (const auto& [place, sums] : group.later) {
      later.push_back(Json::object({{"chunk", place}, {"sums", sums.to_json()}}));
    }
    groups.push_back(Json::object({{"group", number},
                                   {"chunks", group.chunks},
                                   {"sums", group.sums.to_json()},
                                   {"later", std::move(later)}}));
  }
  Json json =
      Json::object({{"groups", groups_}, {"sums", sums_.to_json()}, {"later", std::move(groups)}});
  if (open_) {
    json.set("open", Json::object({{"chunk", open_->number},
                                   {"next", open_->next},
                                   {"sums", open_->sums.to_json()}}));
  }
  return json;
}

ChunkedStatistics ChunkedStatistics::from_json(const Json& json, const std::string& where) {
  const auto number = [&](const Json& object, const char* name) {
    const int64_t value = object.at(name, where).as_int(where);
    if (value < 0)
      fail(ErrorKind::kBadFile, "{}.{} is {} but should be 0 or more", where, name, value);
    return value;
  };
  const auto sums = [&](const Json& object) {
    return CorpusStatistics::from_json(object.at("sums", where), where);
  };
  ChunkedStatistics result;
  result.groups_ = number(json, "groups");
  result.sums_ = sums(json);
  for (const Json& each : json.at("later", where).as_array(where)) {
    Group group{.chunks = number(each, "chunks"), .sums = sums(each), .later = {}};
    for (const Json& chunk : each.at("later", where).as_array(where)) {
      group.later.emplace(number(chunk, "chunk"), sums(chunk));
    }
    result.later_.emplace(number(each, "group"), std::move(group));
  }
  if (const Json* open = json.find("open")) {
    result.open_ =
        Chunk{.number = number(*open, "chunk"), .next = number(*open, "next"), .sums = sums(*open)};
  }
  return result;
}

}  // namespace fovea
