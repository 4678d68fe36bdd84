#include "fovea/ask/places.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "fovea/ask/question_kind.h"
#include "fovea/base/error.h"

namespace fovea {
namespace {

void check_counted(std::string_view field, int64_t number, int64_t count, const Engine& engine,
                   SiteKind kind) {
  if (number >= 0 && number < count) return;
  fail(ErrorKind::kInvalidArgument, Field{field},
       "{} is beyond {}, which has {} {}{} of {}, 0 to {}", number, engine.name(), count, field,
       count == 1 ? "" : "s", name_of(kind), count - 1);
}

}  // namespace

std::vector<SiteKind> sites_of(const ModelFacts& facts, bool sees_picture) {
  if (facts.finds_objects()) {
    return {SiteKind::kEncoderSelf, SiteKind::kCross, SiteKind::kDecoderSelf};
  }
  if (facts.has_decoder()) {
    return {SiteKind::kCross, SiteKind::kEncoderSelf, SiteKind::kDecoderSelf};
  }
  const bool towers = facts.has_text_tower();
  if (!sees_picture) return {towers ? SiteKind::kTextSelf : SiteKind::kSelf};
  std::vector<SiteKind> sites{towers ? SiteKind::kVisionSelf : SiteKind::kSelf};
  if (facts.pools_by_attention()) sites.push_back(SiteKind::kPool);
  return sites;
}

SiteKind site_taken(SiteKind wanted, const Engine& engine, bool sees_picture) {
  const std::vector<SiteKind> sites = sites_of(engine.facts(), sees_picture);
  std::vector<std::string_view> names;
  for (const SiteKind site : sites) {
    names.push_back(alias_of(site));
    // One tower alone has nothing to tell it from.
    if (site == wanted ||
        (wanted == SiteKind::kVisionSelf && site == SiteKind::kSelf && sees_picture)) {
      return site;
    }
  }
  fail(ErrorKind::kInvalidArgument, Field{"site"},
       "{} is not what {} does: it has {} on {}; choose {}", alias_of(wanted), engine.name(),
       sites.size() == 1 ? "only one" : fmt::format("{}", sites.size()),
       sees_picture ? "a picture" : "a text", fmt::join(names, " or "));
}

SiteSize size_of(const ModelFacts& facts, SiteKind kind) {
  const auto of = [](const std::optional<StackFacts>& stack) {
    return stack ? SiteSize{stack->layers, stack->heads} : SiteSize{};
  };
  switch (kind) {
    case SiteKind::kDecoderSelf:
    case SiteKind::kCross:
      return of(facts.decoder);
    case SiteKind::kTextSelf:
      return of(facts.text_tower);
    case SiteKind::kPool:
    case SiteKind::kPanoptic:
      return {1, facts.main.heads};
    default:
      return of(facts.main);
  }
}

void check_layer(int64_t layer, const Engine& engine, SiteKind kind) {
  check_counted("layer", layer, size_of(engine.facts(), kind).layers, engine, kind);
}

void check_head(const HeadChoice& head, const Engine& engine, SiteKind kind) {
  const int64_t heads = size_of(engine.facts(), kind).heads;
  for (const int64_t one : head.some) check_counted("head", one, heads, engine, kind);
  if (head.kind == HeadChoice::Kind::kOne) check_counted("head", head.head, heads, engine, kind);
}

void check_query(int64_t query, const Engine& engine) {
  const std::optional<ObjectFacts>& objects = engine.facts().objects;
  if (!objects) {
    fail(ErrorKind::kInvalidArgument, Field{"query"}, "{} finds no objects; leave it out",
         engine.name());
  }
  const int64_t queries = objects->queries;
  if (query >= 0 && query < queries) return;
  fail(ErrorKind::kInvalidArgument, Field{"query"},
       "{} is beyond {}, which has {} object queries, 0 to {}", query, engine.name(), queries,
       queries - 1);
}

void check_place(const Question& question, const Engine& engine, bool sees_picture) {
  const Place& place = question.place;
  const ModelFacts& facts = engine.facts();
  // Without a site the run's first records are meant: those of the encoder, where there is one.
  SiteKind kind =
      facts.has_decoder() ? SiteKind::kEncoderSelf : sites_of(facts, sees_picture).front();
  if (!question.kind.empty()) {
    const QuestionKind& asked = question_kind_named(question.kind);
    if (asked.check != nullptr) asked.check(engine);
    kind = asked.only_of.value_or(kind);
    if (asked.site != nullptr) kind = asked.site(question, engine, sees_picture);
  }
  if (place.site) kind = site_taken(*place.site, engine, sees_picture);
  if (place.layer) check_layer(*place.layer, engine, kind);
  if (place.head) check_head(*place.head, engine, kind);
  if (place.query) check_query(*place.query, engine);
}

void check_place(const Question& question, const OpenedInput& opened) {
  const bool picture = !opened.encoded.patches.positions.empty();
  // With both a picture and a text, only the run can tell which attentions there are.
  if (picture && opened.encoded.inputs.tokens() > 0) return;
  check_place(question, opened.engine, picture);
}

}  // namespace fovea
