#include "fovea/ask/schema.h"

#include "fovea/ask/input.h"
#include "fovea/ask/question_kind.h"

namespace fovea {

Json question_schema() {
  Json kinds = Json::object();
  Json::Array any;
  for (const QuestionKind& kind : all_question_kinds()) {
    std::vector<FieldInfo> fields = kind.fields;
    fields.insert(fields.begin(), {.name = "kind",
                                   .help = kind.summary,
                                   .type = FieldType::kChoice,
                                   .words = {kind.name},
                                   .required = true});
    kinds.set(kind.name, schema_of(fields));
    any.push_back(Json::object({{"$ref", "#/$defs/" + kind.name}}));
  }
  kinds.set("input", schema_of(input_fields()));
  return Json::object({{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                       {"title", "A question about a run"},
                       {"anyOf", Json(std::move(any))},
                       {"$defs", std::move(kinds)}});
}

}  // namespace fovea
