#include "fovea/ask/top_answer.h"

#include "fovea/ask/map_answer.h"
#include "fovea/figure/top_view.h"
#include "fovea/figure/view_frame.h"

namespace fovea {
namespace {

constexpr int64_t kUsualTop = 5;

Json top_json(const TopList& list) {
  Json weights = Json::array();
  for (const RankedWeight& weight : list.weights) {
    weights.push_back(Json::object({{"position", weight.position.index},
                                    {"name", weight.position.name},
                                    {"weight", weight.weight},
                                    {"times_even", weight.times_even}}));
  }
  return Json::object({{"position", list.position.index},
                       {"name", list.position.name},
                       {"weights", std::move(weights)}});
}

Records top_records(const std::vector<TopList>& lists, bool column) {
  Records records;
  records.columns = column
                        ? std::vector<std::string>{"column",   "column_name", "rank",      "row",
                                                   "row_name", "weight",      "times_even"}
                        : std::vector<std::string>{"row",         "row_name", "rank",      "column",
                                                   "column_name", "weight",   "times_even"};
  for (const TopList& list : lists) {
    int64_t rank = 0;
    for (const RankedWeight& weight : list.weights) {
      records.rows.push_back({list.position.index, list.position.name, ++rank,
                              weight.position.index, weight.position.name, weight.weight,
                              weight.times_even});
    }
  }
  return records;
}

}  // namespace

FieldInfo top_field() {
  return {.name = "top",
          .shown = "K",
          .help = "list the K largest weights of a row, or of the token's column",
          .type = FieldType::kInteger,
          .low = 1,
          .otherwise = "5"};
}

Answer top_answer(const ViewChoice& choice, const Question& question, const FinishedRun& run) {
  const auto count = static_cast<int64_t>(question.number("top").value_or(kUsualTop));
  TopLists lists = top_view(run.run(), choice, count);
  Question placed = question;
  placed.place.site = choice.kind;
  placed.place.column = choice.column;
  const HeadChoice head = single_map(choice.head, *chosen_record(run.run(), choice));
  Answer answer = map_answer(std::move(lists.figure), placed, run, head);
  Json result = answer.facts.at("result", "an answer"), all = Json::array();
  for (const TopList& list : lists.lists) all.push_back(top_json(list));
  result.set("lists", std::move(all));
  answer.facts.set("result", std::move(result));
  answer.records = top_records(lists.lists, choice.column);
  return answer;
}

}  // namespace fovea
