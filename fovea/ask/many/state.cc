#include "fovea/ask/many/state.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "fovea/base/error.h"

namespace fovea {
namespace {

constexpr int64_t kStateFormat = 3;  // 1 and 2 were of statistics alone, without chunks

std::string shown_value(const Json* value) {
  if (value == nullptr) return "missing";
  return value->is_string() ? value->as_string("") : value->dump();
}

Json told_json(const ManyState::Told& told) {
  return Json::object({{"count", told.count}, {"first", told.first}, {"text", told.text}});
}

ManyState::Told told_of(const Json& json, const std::string& where) {
  return {.count = json.at("count", where).as_int(where),
          .first = json.at("first", where).as_int(where),
          .text = json.at("text", where).as_string(where)};
}

std::vector<ManyState::Range> ranges_of(const Json& json, const std::string& where) {
  std::vector<ManyState::Range> ranges;
  int64_t before = -1;
  for (const Json& each : json.as_array(where)) {
    const Json::Array& pair = each.as_array(where);
    ManyState::Range range;
    if (pair.size() == 2) range = {pair[0].as_int(where), pair[1].as_int(where)};
    if (range.begin <= before || range.end <= range.begin) {
      fail(ErrorKind::kBadFile, "{} has inputs {} but should have rising pairs [begin, end]", where,
           json.dump());
    }
    before = range.end;
    ranges.push_back(range);
  }
  return ranges;
}

Json rows_json(const std::vector<ManyState::Row>& rows) {
  Json json = Json::array();
  for (const ManyState::Row& row : rows) {
    Json one = Json::object(
        {{"input", row.input}, {"name", row.name}, {"numbers", Json::array_of(row.numbers)}});
    if (!row.more.is_null()) one.set("more", row.more);
    json.push_back(std::move(one));
  }
  return json;
}

std::vector<ManyState::Row> rows_of(const Json& json, const std::string& where) {
  std::vector<ManyState::Row> rows;
  for (const Json& each : json.as_array(where)) {
    ManyState::Row& row = rows.emplace_back();
    row.input = each.at("input", where).as_int(where);
    row.name = each.at("name", where).as_string(where);
    for (const Json& number : each.at("numbers", where).as_array(where)) {
      row.numbers.push_back(number.as_double(where));
    }
    if (const Json* more = each.find("more")) row.more = *more;
  }
  return rows;
}

}  // namespace

void ManyState::Told::add(int64_t input, std::string what) {
  merge({.count = 1, .first = input, .text = std::move(what)});
}

void ManyState::Told::merge(const Told& other) {
  if (other.count == 0) return;
  if (count == 0 || other.first < first) {
    first = other.first;
    text = other.text;
  }
  count += other.count;
}

int64_t ManyState::inputs() const {
  int64_t sum = 0;
  for (const Range& range : counted) sum += range.end - range.begin;
  return sum;
}

bool ManyState::has(int64_t input) const {
  const auto after = std::ranges::upper_bound(counted, input, {}, &Range::begin);
  return after != counted.begin() && input < std::prev(after)->end;
}

void ManyState::end_input(int64_t input) {
  const auto after = std::ranges::upper_bound(counted, input, {}, &Range::begin);
  const bool follows = after != counted.begin() && std::prev(after)->end == input;
  const bool leads = after != counted.end() && after->begin == input + 1;
  if (follows && leads) {
    std::prev(after)->end = after->end;
    counted.erase(after);
  } else if (follows) {
    ++std::prev(after)->end;
  } else if (leads) {
    --after->begin;
  } else {
    counted.insert(after, {input, input + 1});
  }
}

void ManyState::leave_out(int64_t input, const std::string& name, const std::string& reason) {
  // Who reads a file names it already.
  left_out.add(input, reason.starts_with(name) ? reason : fmt::format("{}: {}", name, reason));
}

void ManyState::merge(ManyState other) {
  if (const std::string what = difference(of, other.of); !what.empty()) {
    fail(ErrorKind::kInvalidArgument, "these are two counts: {}", what);
  }
  std::vector<Range> all = counted;
  all.insert(all.end(), other.counted.begin(), other.counted.end());
  std::ranges::sort(all, {}, &Range::begin);
  std::vector<Range> joined;
  for (const Range& range : all) {
    if (joined.empty() || joined.back().end < range.begin) {
      joined.push_back(range);
    } else if (joined.back().end == range.begin) {
      joined.back().end = range.end;
    } else {
      fail(ErrorKind::kInvalidArgument, "input {} is in both counts; merge counts of other inputs",
           range.begin);
    }
  }
  if (!settled.is_null() && !other.settled.is_null() && settled.dump() != other.settled.dump()) {
    fail(ErrorKind::kInvalidArgument,
         "what the first inputs decide for all differs between the counts; begin each from the "
         "state of one that has decided");
  }
  sums.merge(std::move(other.sums));
  counted = std::move(joined);
  left_out.merge(other.left_out);
  noted.merge(other.noted);
  if (settled.is_null()) settled = std::move(other.settled);
  for (const auto& [name, count] : other.counts) counts[name] += count;
  std::ranges::move(other.rows, std::back_inserter(rows));
  std::ranges::sort(rows, {}, &Row::input);
}

Json ManyState::to_json() const {
  Json ranges = Json::array(), named = Json::object({});
  for (const Range& range : counted) ranges.push_back(Json(Json::Array{range.begin, range.end}));
  for (const auto& [name, count] : counts) named.set(name, count);
  return Json::object({{"fovea_count", kStateFormat},
                       {"of", of},
                       {"counted", std::move(ranges)},
                       {"left_out", told_json(left_out)},
                       {"noted", told_json(noted)},
                       {"settled", settled},
                       {"counts", std::move(named)},
                       {"sums", sums.to_json()},
                       {"rows", rows_json(rows)}});
}

ManyState ManyState::from_json(const Json& json, const std::string& where) {
  const Json* format = json.find("fovea_count");
  if (format == nullptr) format = json.find("fovea_stats");  // what it was called before
  if (format == nullptr || json.find("of") == nullptr) {
    fail(ErrorKind::kBadFile, "{} is no count to go on from but another JSON file", where);
  }
  if (format->dump() != Json(kStateFormat).dump()) {
    fail(ErrorKind::kBadFile,
         "{} is a count in format {} but this fovea goes on from {}; remove it to begin anew",
         where, shown_value(format), kStateFormat);
  }
  ManyState state;
  state.of = json.at("of", where);
  state.counted = ranges_of(json.at("counted", where), where);
  state.left_out = told_of(json.at("left_out", where), where);
  state.noted = told_of(json.at("noted", where), where);
  state.settled = json.at("settled", where);
  for (const auto& [name, count] : json.at("counts", where).as_object(where)) {
    state.counts[name] = count.as_int(where);
  }
  state.sums = ChunkedStatistics::from_json(json.at("sums", where), where);
  state.rows = rows_of(json.at("rows", where), where);
  return state;
}

std::string difference(const Json& was, const Json& now) {
  const auto told = [](const std::string& name, const Json* before, const Json* after) {
    if (name == "inputs") return std::string("its inputs or their files are others");
    const std::string a = shown_value(before), b = shown_value(after);
    const bool all = name == "limit" && (a == "0" || b == "0");
    return fmt::format("{} was {} and is now {}{}", name, a, b,
                       all ? ", where 0 is all inputs" : "");
  };
  for (const auto& [name, asked] : now.as_object("")) {
    const Json* before = was.find(name);
    if (before == nullptr || before->dump() != asked.dump()) return told(name, before, &asked);
  }
  for (const auto& [name, asked] : was.as_object("")) {
    if (now.find(name) == nullptr) return told(name, &asked, nullptr);
  }
  return "";
}

}  // namespace fovea
