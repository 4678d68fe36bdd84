#include "fovea/atlas/head_choice.h"

#include "fovea/base/error.h"
#include "fovea/base/parse.h"

namespace fovea {

HeadChoice parse_head(std::string_view text) {
  if (text == "all") return {HeadChoice::Kind::kAll, 0};
  if (text == "mean") return {HeadChoice::Kind::kMean, 0};
  if (text == "max") return {HeadChoice::Kind::kMax, 0};
  const auto head = parse_number<int64_t>(text);
  if (!head || *head < 0) {
    fail(ErrorKind::kInvalidArgument,
         "the head is '{}' but must be a number from 0, mean, max or all", text);
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
    case HeadChoice::Kind::kAll:
      break;
  }
  return "all";
}

HeadChoice single_map(HeadChoice head, const AttentionRecord& record) {
  const int64_t heads = record.shape().heads;
  if (head.kind == HeadChoice::Kind::kOne && (head.head < 0 || head.head >= heads)) {
    fail(ErrorKind::kInvalidArgument, "head {} is asked for but {} has {} head{}, 0 to {}",
         head.head, to_string(record.site), heads, heads == 1 ? "" : "s", heads - 1);
  }
  if (head.kind == HeadChoice::Kind::kAll) return {HeadChoice::Kind::kMean, 0};
  return head;
}

}  // namespace fovea
