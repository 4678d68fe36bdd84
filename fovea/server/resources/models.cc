// The models that the server was started with, and what is known about questions and methods.
#include "fovea/ask/schema.h"
#include "fovea/explain/method.h"
#include "fovea/server/resource.h"
#include "fovea/server/server_state.h"

namespace fovea {
namespace {

WebResponse answer_models(const Call& call) {
  call.check_query({});
  Json models = Json::array();
  for (const std::string& name : call.state.models.names()) {
    models.push_back(call.state.models.facts(name));
  }
  return json_response(Json::object({{"models", std::move(models)}}));
}

Json parameter_json(const MethodParameter& parameter) {
  Json json = Json::object(
      {{"name", parameter.name}, {"help", parameter.help}, {"otherwise", parameter.otherwise}});
  if (!parameter.choices.empty()) {
    json.set("choices", Json::array_of(parameter.choices));
  } else {
    json.set("least", parameter.least);
    json.set("most", parameter.most);
  }
  return json;
}

WebResponse answer_methods(const Call& call) {
  call.check_query({});
  Json methods = Json::array();
  for (const Method& method : all_methods()) {
    Json parameters = Json::array();
    for (const MethodParameter& parameter : method.parameters) {
      parameters.push_back(parameter_json(parameter));
    }
    methods.push_back(Json::object({{"name", method.name},
                                    {"summary", method.summary},
                                    {"answers", method.answers},
                                    {"cost", method.cost},
                                    {"parameters", std::move(parameters)},
                                    {"takes_layer", method.takes_layer},
                                    {"takes_head", method.takes_head},
                                    {"scores_heads", method.scores_heads}}));
  }
  return json_response(Json::object({{"methods", std::move(methods)}}));
}

WebResponse answer_questions(const Call& call) {
  call.check_query({});
  return json_response(question_schema());
}

Route registry(const char* pattern, const char* summary, WebResponse (*answer)(const Call&)) {
  return {.method = "GET",
          .pattern = pattern,
          .summary = summary,
          .lane = Lane::kWork,
          .answer = answer};
}

}  // namespace

Resource models_resource() {
  return {{registry("/v1/models", "the models that can be run", answer_models),
           registry("/v1/methods", "the methods that explain", answer_methods),
           registry("/v1/questions", "every kind of question as JSON Schema", answer_questions)}};
}

}  // namespace fovea
