#include "fovea/server/router.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "fovea/base/error.h"
#include "fovea/base/parse.h"
#include "fovea/base/suggest.h"

namespace fovea {
namespace {

std::vector<std::string> parts_of(std::string_view pattern) {
  std::vector<std::string> parts;
  pattern.remove_prefix(1);
  while (!pattern.empty()) {
    const size_t end = pattern.find('/');
    parts.emplace_back(pattern.substr(0, end));
    pattern.remove_prefix(end == pattern.npos ? pattern.size() : end + 1);
  }
  return parts;
}

bool is_name(const std::string& part) {
  return part.front() == '{';
}

bool fits(const std::vector<std::string>& pattern, const std::vector<std::string>& parts) {
  return std::ranges::equal(pattern, parts, [](const std::string& wanted, const std::string& part) {
    return is_name(wanted) || wanted == part;
  });
}

bool takes(const Route& route, const WebRequest& request) {
  return route.method == "GET" ? request.is_get() : route.method == request.method;
}

}  // namespace

Router::Router(const std::vector<Resource>& resources) {
  for (const Resource& resource : resources) {
    for (const Route& route : resource.routes) {
      routes_.push_back(route);
      parts_.push_back(parts_of(route.pattern));
    }
  }
}

FoundRoute Router::find(const WebRequest& request) const {
  const std::vector<std::string>& parts = request.parts;
  size_t best = routes_.size();
  std::set<std::string> methods;
  const auto names = [&](size_t at) { return std::ranges::count_if(parts_[at], is_name); };
  for (size_t i = 0; i < routes_.size(); ++i) {
    if (!fits(parts_[i], parts)) continue;
    methods.insert(routes_[i].method);
    // A word of the pattern says more than a name.
    if (takes(routes_[i], request) && (best == routes_.size() || names(i) < names(best))) best = i;
  }
  if (best == routes_.size()) {
    if (!methods.empty()) {
      throw HttpProblem(405, fmt::format("this address takes {}, not {}", fmt::join(methods, ", "),
                                         request.method));
    }
    if (!parts.empty() && parts.front() == "v1") {
      throw HttpProblem(404, "there is no such address; docs/page.md lists them");
    }
    return {};
  }
  FoundRoute found{.route = &routes_[best], .names = {}};
  for (size_t i = 0; i < parts.size(); ++i) {
    const std::string& part = parts_[best][i];
    if (is_name(part)) found.names.emplace(part.substr(1, part.size() - 2), parts[i]);
  }
  return found;
}

int64_t Call::number(std::string_view which) const {
  const std::string& text = name(which);
  const auto number = parse_number<int64_t>(text);
  if (!number || *number < 0) {
    fail(ErrorKind::kInvalidArgument, Field{which},
         "it is '{}' but must be a whole number of 0 or "
         "more",
         text);
  }
  return *number;
}

std::string Call::query(std::string_view which) const {
  const std::string* text = request.find_query(which);
  return text == nullptr ? std::string() : *text;
}

int64_t Call::query_number(std::string_view which, int64_t otherwise, int64_t most) const {
  const std::string* text = request.find_query(which);
  if (text == nullptr) return otherwise;
  const auto number = parse_number<int64_t>(*text);
  if (!number || *number < 0 || *number > most) {
    fail(ErrorKind::kInvalidArgument, Field{which},
         "it is '{}' but must be a whole number from 0 to {}", *text, most);
  }
  return *number;
}

void Call::check_query(std::initializer_list<std::string_view> known) const {
  for (const auto& [name, value] : request.query) {
    if (name == "token" || std::ranges::count(known, name) > 0) continue;
    const std::vector<std::string> taken(known.begin(), known.end());
    fail(ErrorKind::kInvalidArgument, Field{name}, "this address does not take it{}",
         did_you_mean(name, taken));
  }
}

}  // namespace fovea
