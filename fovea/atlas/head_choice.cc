#include "fovea/atlas/head_choice.h"

#include <fmt/ranges.h>

#include "fovea/base/error.h"
#include "fovea/base/parse.h"

namespace fovea {

HeadChoice parse_head(std::string_view text) {
  if (text == "all") return {HeadChoice::Kind::kAll, 0};
  if (text == "mean") return {HeadChoice::Kind::kMean, 0};
  if (text == "max") return {HeadChoice::Kind::kMax, 0};
  if (text == "min") return {HeadChoice::Kind::kMin, 0};
  const auto head = parse_number<int64_t>(text);
  if (!head || *head < 0) {
    fail(ErrorKind::kInvalidArgument,
         "the head is '{}' but must be a number from 0, mean, max, min or all", text);
  }
  return {HeadChoice::Kind::kOne, *head};
}

Json to_json(const HeadChoice& head) {
  switch (head.kind) {
    case HeadChoice::Kind::kOne:
      return head.head;
    case HeadChoice::Kind::kMean:
      return "mean";
    case HeadChoice::Kind::kMax:
      return "max";
    case HeadChoice::Kind::kMin:
      return "min";
    case HeadChoice::Kind::kSome:
      return Json::array_of(head.some);
    case HeadChoice::Kind::kAll:
      break;
  }
  return "all";
}

namespace {

void check_is_there(int64_t head, const AttentionRecord& record) {
  const int64_t heads = record.shape().heads;
  if (head >= 0 && head < heads) return;
  fail(ErrorKind::kInvalidArgument, "head {} is asked for but {} has {} head{}, 0 to {}", head,
       to_string(record.site), heads, heads == 1 ? "" : "s", heads - 1);
}

}  // namespace

HeadChoice single_map(HeadChoice head, const AttentionRecord& record) {
  if (head.kind == HeadChoice::Kind::kOne) check_is_there(head.head, record);
  if (head.kind == HeadChoice::Kind::kSome) {
    fail(ErrorKind::kInvalidArgument, Field{"head"},
         "heads {} are {} maps but one is shown here; give one of them, or mean, max or min",
         fmt::join(head.some, ", "), head.some.size());
  }
  if (head.kind == HeadChoice::Kind::kAll) return {HeadChoice::Kind::kMean, 0};
  return head;
}

std::vector<HeadChoice> maps_meant(const HeadChoice& head, const AttentionRecord& record) {
  std::vector<HeadChoice> maps;
  const auto add = [&](int64_t one) {
    check_is_there(one, record);
    maps.push_back({HeadChoice::Kind::kOne, one});
  };
  if (head.kind == HeadChoice::Kind::kAll) {
    for (int64_t one = 0; one < record.shape().heads; ++one) add(one);
  } else if (head.kind == HeadChoice::Kind::kSome) {
    for (const int64_t one : head.some) add(one);
  } else {
    maps.push_back(single_map(head, record));
  }
  return maps;
}

}  // namespace fovea
