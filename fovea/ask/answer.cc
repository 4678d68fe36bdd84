#include "fovea/ask/answer.h"

#include "fovea/base/error.h"

namespace fovea {

Json objects_of(const Records& records) {
  Json list = Json::array();
  for (const std::vector<Json>& row : records.rows) {
    Json one = Json::object();
    for (size_t i = 0; i < row.size(); ++i) one.set(records.columns[i], row[i]);
    list.push_back(std::move(one));
  }
  return list;
}

MapData numbers_of(const Answer& answer) {
  if (answer.numbers_apart) return answer.numbers_apart();
  if (answer.numbers) return *answer.numbers;
  return std::visit(
      [](const auto& figure) -> MapData {
        if constexpr (requires { data_of(figure); }) {
          return data_of(figure);
        } else {
          fail(ErrorKind::kUnsupported,
               "there are no maps in a table; write it as .json, .csv or a picture");
        }
      },
      answer.figure);
}

Json whole(const Answer& answer) {
  const bool has_maps =
      answer.numbers ||
      std::visit([](const auto& figure) { return requires { data_of(figure); }; }, answer.figure);
  if (!has_maps || answer.numbers_apart) return answer.facts;
  Json facts = answer.facts;
  const Json* given = facts.find("result");
  Json result = given != nullptr ? *given : Json::object();
  add_numbers(result, numbers_of(answer));
  facts.set("result", std::move(result));
  return facts;
}

}  // namespace fovea
