// Word alignment of many texts and their translations.
#include <fmt/format.h>

#include <algorithm>

#include "fovea/ask/alignment.h"
#include "fovea/ask/many/pair_aligner.h"
#include "fovea/ask/question_kind.h"
#include "fovea/engine/translator.h"

namespace fovea {
namespace {

std::vector<FieldInfo> align_pairs_fields() {
  std::vector<FieldInfo> fields = align_fields();
  std::ranges::find(fields, "links", &FieldInfo::name)->otherwise =
      "mutual; argmax with a reverse model, which is the other direction";
  fields.push_back(
      {.name = "reverse_model",
       .shown = "NAME",
       .help = "a model that translates back: both directions are aligned and joined"});
  fields.push_back(
      {.name = "symmetrize",
       .shown = "NAME",
       .help = "how the two directions are joined",
       .type = FieldType::kChoice,
       .words = symmetrization_names(),
       .otherwise = std::string(to_string(kUsualSymmetrization)),
       .rules = {{.needs = "reverse_model",
                  .why = "joins the links of two directions but there is one model"}}});
  fields.push_back({.name = "rank",
                    .shown = "N",
                    .help = "choose the map by the first N pairs",
                    .type = FieldType::kInteger,
                    .low = 1,
                    .otherwise = fmt::format("{}; all for a ranking", kRankedPairs)});
  fields.push_back({.name = "ranking",
                    .help = "the statistics of every layer and head instead of links",
                    .type = FieldType::kFlag,
                    .rules = {{.excludes = "reverse_model", .why = "is of one model by itself"}}});
  return fields;
}

}  // namespace

QuestionKind align_pairs_question() {
  return {.name = "align_pairs",
          .summary = "which word comes from which, in many texts and their translations",
          .fields = align_pairs_fields(),
          .verbs = {"align"},
          .has_maps = false,
          .has_page = false,
          .only_of = SiteKind::kCross,
          .check = check_translates,
          .counter = align_counter,
          .finish = align_answer,
          .doing = "aligning"};
}

}  // namespace fovea
