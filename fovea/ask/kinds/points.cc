// The encoder's attention of a few points, around the picture.
#include <fmt/format.h>

#include "fovea/ask/detection_answer.h"
#include "fovea/ask/map_answer.h"
#include "fovea/ask/question_kind.h"

namespace fovea {
namespace {

constexpr int64_t kMostPoints = 8;  // that stand around a picture
constexpr size_t kUsualPoints = 4;

// The cells of "at". Otherwise the middles of the four best objects; if there are fewer, the
// middles of the picture's quarters fill up.
std::vector<NamedCell> chosen_points(const Question& question, const DetectedObjects& found) {
  std::vector<NamedCell> points;
  const auto add = [&](PictureSpot spot) {
    points.push_back({cell_at(found.input(), "at", spot), fmt::format("at {},{}", spot.x, spot.y)});
  };
  if (!question.place.at.empty()) {
    for (const PictureSpot spot : question.place.at) add(spot);
    return points;
  }
  for (const DetectedObject& object : found.objects()) {
    if (points.size() == kUsualPoints) break;
    points.push_back({found.scene().centre_cell(object),
                      fmt::format("middle of {} {}", object.number, object.name)});
  }
  const auto [width, height] = found.picture();
  for (auto quarter = static_cast<int64_t>(points.size()); points.size() < kUsualPoints;
       ++quarter) {
    add({(quarter % 2 * 2 + 1) * width / 4, (quarter / 2 * 2 + 1) * height / 4});
  }
  return points;
}

Answer answer_points(const Question& question, const FinishedRun& run) {
  const DetectedObjects found(run, question);
  const RecordPointer record = found.record(SiteKind::kEncoderSelf, question.place.layer);
  const HeadChoice head = single_map(question.place.head.value_or(HeadChoice{}), *record);
  return lines_answer(point_maps(found.scene(), record, head, chosen_points(question, found),
                                 question.place.column, picture_drawing(view_choice(question))),
                      question, found, record, head);
}

}  // namespace

QuestionKind points_question() {
  FieldInfo at = at_field(/*several=*/true), column = column_field();
  at.most = kMostPoints;
  column.help = "who attends to it, not what it attends to";
  column.rules.clear();
  return {
      .name = "points",
      .summary = "the maps of a few points, of the best objects unless told, around the picture",
      .fields = detection_fields(
          joined_fields({layer_field(), head_field({"mean", "max", "min"}), at, column},
                        picture_drawing_fields())),
      .verbs = {"detect"},
      .only_of = SiteKind::kEncoderSelf,
      .check = check_finds_objects,
      .check_input = check_spots,
      .needs = detection_needs,
      .answer = answer_points,
      .page = [](const Question& question, const FinishedRun&) {
        return detection_page(question, SiteKind::kEncoderSelf);
      }};
}

}  // namespace fovea
