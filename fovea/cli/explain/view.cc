#include "fovea/cli/explain/view.h"

#include "fovea/cli/explain/numbers.h"
#include "fovea/figure/explanation_view.h"

namespace fovea {
namespace {

ExplanationView view_of(const ExplainQuestion& question, const Explanation& explanation) {
  ExplanationView view{.run = question.result.run,
                       .method = question.method,
                       .explanation = explanation,
                       .kind = question.kind,
                       .position = question.position,
                       .position_name = question.position_name,
                       .head = question.head,
                       .notes = question.notes};
  if (question.target) view.answer = answer_name(*question.target, question.against);
  if (question.picture) {
    view.picture = &question.picture->picture;
    view.grid = &question.picture->grid;
  }
  if (finds_objects(question)) view.grid_name = "cells";
  return view;
}

}  // namespace

Content explanation_content(const ExplainQuestion& question, const Explanation& explanation,
                            const FaithfulnessCard* card) {
  const Json metadata = explanation_metadata(question, explanation, card);
  Content content{.figure = explanation_figure(view_of(question, explanation))};
  std::visit([&](auto& figure) { figure.text.metadata = metadata; }, content.figure);
  content.json = [json = explanation_json(question, explanation, card)] { return json; };
  content.write_data = [explanation, metadata](const std::filesystem::path& path) {
    write_explanation_numbers(path, explanation, metadata);
  };
  return content;
}

}  // namespace fovea
