// Areas of objects out of attention: side by side by where they come from, as a picture, object
// numbers and COCO's runs.
#include <fmt/format.h>

#include <algorithm>

#include "fovea/ask/detection_answer.h"
#include "fovea/ask/object_masks.h"
#include "fovea/ask/question_kind.h"
#include "fovea/base/error.h"
#include "fovea/explain/pictures/mask_rle.h"
#include "fovea/figure/caption.h"

namespace fovea {
namespace {

constexpr int64_t kMostMaskNumbers = int64_t{1} << 28;  // of a data file

struct Masks {
  MaskMethod method;
  ObjectMasks masks;
};

MaskRule rule_of(const Question& question) {
  const auto rule = question.word("mask_cut");
  if (!rule) return {};
  try {
    return parse_mask_rule(*rule);
  } catch (const Error& error) {
    fail(error.kind(), Field{"mask_cut"}, "{}", error.what());
  }
}

// The one that is asked for, or all that the model has.
std::vector<MaskSource> sources_of(const Question& question, const Engine& engine) {
  std::vector<MaskSource> sources = mask_sources(engine);
  const auto wanted = question.word("mask_from");
  if (!wanted) return sources;
  std::erase_if(sources, [&](MaskSource source) { return key_of(source) != *wanted; });
  if (!sources.empty()) return sources;
  fail(ErrorKind::kUnsupported, Field{"mask_from"},
       "{} has no mask head; take masks from encoder or cross-attention", engine.name());
}

void check_masks(const Question& question, const OpenedInput& opened) {
  rule_of(question);
  sources_of(question, opened.engine);
}

Json methods_json(const std::vector<DetectedObject>& found, const std::vector<Masks>& all) {
  Json methods = Json::array();
  for (const Masks& each : all) {
    Json method = Json::object();
    method.set("method", each.masks.title);
    method.set("from", key_of(each.method.source));
    if (each.method.source != MaskSource::kHead) method.set("cut", to_string(each.method.rule));
    method.set("in_box", each.method.in_box);
    Json objects = Json::array();
    for (size_t i = 0; i < each.masks.objects.size(); ++i) {
      objects.push_back(
          Json::object({{"object", found[i].number},
                        {"area", each.masks.objects[i].count()},
                        {"segmentation", to_json(encode_mask(each.masks.objects[i]))}}));
    }
    method.set("masks", std::move(objects));
    methods.push_back(std::move(method));
  }
  return methods;
}

MapData masks_data(const std::vector<DetectedObject>& found, const ObjectMasks& masks,
                   PictureSize picture, const FigureText& text) {
  const auto [width, height] = picture;
  const auto count = static_cast<int64_t>(masks.objects.size());
  if (width * height > kMostMaskNumbers / std::max<int64_t>(count, 1)) {
    fail(ErrorKind::kInvalidArgument,
         "{} masks of {} x {} pixels are too many numbers; write them as .json or as one mask of "
         "object numbers",
         count, width, height);
  }
  MapData data{.weights = Tensor({count, height, width}),
               .rows = numbered_axis("pixel rows", height),
               .cols = numbered_axis("pixel columns", width),
               .text = text};
  float* out = data.weights.mutable_values<float>().data();
  for (size_t i = 0; i < masks.objects.size(); ++i) {
    data.panels.push_back(fmt::format("{} {}", found[i].number, found[i].name));
    for (const uint8_t pixel : masks.objects[i].pixels) *out++ = pixel;
  }
  return data;
}

// `head`: of the attention that masks are made of.
Answer masks_answer(const std::vector<Masks>& all, const Question& question,
                    const DetectedObjects& found) {
  std::vector<ObjectMasks> shown;
  for (const Masks& each : all) shown.push_back(each.masks);
  const RecordPointer record = found.record(SiteKind::kEncoderSelf, question.place.layer);
  const HeadChoice head = single_map(question.place.head.value_or(HeadChoice{}), *record);
  ImageFigure figure = masks_figure(
      found.scene(), shown,
      fmt::format("layer {}, {}", record->site.layer, heads_text(head, record->shape().heads)));
  const FigureText text = figure.text;
  Answer answer = detection_answer(std::move(figure), question, found, record, head);
  answer.numbers_apart = [objects = found.objects(), masks = all.front().masks,
                          size = found.picture(),
                          text] { return masks_data(objects, masks, size, text); };
  Json result = answer.facts.at("result", "an answer");
  result.set("methods", methods_json(found.objects(), all));
  answer.facts.set("result", std::move(result));
  return answer;
}

Answer answer_masks(const Question& question, const FinishedRun& run) {
  const DetectedObjects found(run, question);
  std::vector<Masks> all;
  for (const MaskSource source : sources_of(question, found.engine())) {
    const MaskMethod method{source, rule_of(question), question.flag("in_box"),
                            question.place.layer, question.place.head.value_or(HeadChoice{})};
    all.push_back({method, {title_of(method), object_masks(found, method)}});
  }
  Answer answer = found.objects().empty() ? no_object_answer(question, found)
                                          : masks_answer(all, question, found);
  answer.labels = label_mask_of(all.front().masks.objects, found.picture());
  if (!answer.labels) {
    answer.notes.push_back(
        fmt::format("{} objects do not fit into a mask of bytes, which holds 255; a higher "
                    "threshold leaves fewer",
                    found.objects().size()));
  }
  return answer;
}

}  // namespace

QuestionKind masks_question() {
  return {
      .name = "masks",
      .summary = "areas of the objects out of attention",
      .fields = detection_fields(
          {layer_field(),
           head_field({"mean", "max", "min"}),
           {.name = "mask_from",
            .shown = "encoder|cross|head",
            .help = "only masks from here",
            .type = FieldType::kChoice,
            .words = {"encoder", "cross", "head"},
            .otherwise = "all that the model has"},
           {.name = "mask_cut",
            .shown = "RULE",
            .help = "otsu, mass:SHARE or maximum:SHARE of attention",
            .otherwise = "otsu"},
           {.name = "in_box", .help = "masks end at the object's box", .type = FieldType::kFlag}}),
      .verbs = {"detect"},
      .only_of = SiteKind::kEncoderSelf,
      .check = check_finds_objects,
      .check_input = check_masks,
      .needs = detection_needs,
      .answer = answer_masks,
      .page = [](const Question& question, const FinishedRun&) {
        return detection_page(question, SiteKind::kEncoderSelf);
      }};
}

}  // namespace fovea
