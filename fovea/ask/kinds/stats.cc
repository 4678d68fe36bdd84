// What kind each head is, counted over many texts or pictures.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "fovea/ask/many/statistics.h"
#include "fovea/ask/question_kind.h"
#include "fovea/base/error.h"
#include "fovea/figure/statistics_view.h"

namespace fovea {
namespace {

SiteKind site_counted(const ManyAsked& asked) {
  const std::vector<SiteKind> sites = countable_sites(asked.engine, asked.pictures);
  const SiteKind site = asked.question.place.site.value_or(sites.front());
  if (std::ranges::count(sites, site) > 0) return site;
  std::vector<std::string_view> names;
  for (const SiteKind one : sites) names.push_back(name_of(one));
  fail(ErrorKind::kInvalidArgument, Field{"site"},
       "{} is not what can be counted of {}, which is {}; leave it out or choose one of these",
       alias_of(site), asked.engine.name(), fmt::join(names, ", "));
}

bool wants_importance(const Question& question) {
  return question.flag("importance") || metric_of(question).needs == MetricNeeds::kAnswer;
}

Json what_is_counted(const Question& question) {
  Json json = Json::object({{"importance", wants_importance(question)}});
  if (question.place.site) json.set("site", to_string(*question.place.site));
  return json;
}

void check_metric(const ManyAsked& asked, SiteKind site) {
  const auto counted = [&](const HeadMetric& metric) {
    return is_counted(metric.needs, asked.engine, asked.pictures, site);
  };
  const HeadMetric& metric = metric_of(asked.question);
  if (counted(metric)) return;
  std::vector<std::string_view> names;
  for (const HeadMetric& one : head_metrics()) {
    if (counted(one)) names.push_back(one.name);
  }
  fail(ErrorKind::kInvalidArgument, Field{"metric"},
       "{} is not counted: {} of {} has only {}; choose one of these", metric.name, name_of(site),
       asked.engine.name(), fmt::join(names, ", "));
}

std::unique_ptr<Counter> count_stats(const ManyAsked& asked) {
  const SiteKind site = site_counted(asked);
  if (asked.question.flag("importance") && !gives_answer(asked.engine)) {
    fail(ErrorKind::kInvalidArgument, Field{"importance"},
         "it is what an answer hangs on but {} gives no class, next word or object for a whole "
         "input; ask of one input by the method head-importance",
         asked.engine.name());
  }
  check_metric(asked, site);
  return statistics_counter(asked, site, wants_importance(asked.question));
}

// A row for each head.
Records head_records(const CorpusStatistics& statistics) {
  Records records{.columns = {"layer", "head", "type"}, .rows = {}, .digits = 9};
  for (const HeadMetric& metric : head_metrics()) records.columns.emplace_back(metric.name);
  records.columns.emplace_back("offset");
  for (int64_t layer = 0; layer < statistics.layers(); ++layer) {
    for (int64_t head = 0; head < statistics.heads(); ++head) {
      const HeadNumbers numbers = numbers_of(statistics.sums(layer, head));
      std::vector<Json> row{layer, head, head_type(numbers)};
      const auto known = [](double number, const Json& json) {
        return std::isnan(number) ? Json() : json;
      };
      for (const HeadMetric& metric : head_metrics()) {
        const double number = numbers.*metric.number;
        row.push_back(known(number, number));
      }
      row.push_back(known(numbers.positional, numbers.offset));
      records.rows.push_back(std::move(row));
    }
  }
  return records;
}

Answer finish_stats(const ManyAsked& asked, const ManyState& state) {
  const CorpusStatistics statistics = state.sums.total();
  const SiteKind site = site_counted(asked);
  Answer answer{.figure = statistics_figure(statistics, site, asked.engine.name(),
                                            metric_of(asked.question), /*names_kinds=*/true)};
  answer.records = head_records(statistics);
  answer.numbers_apart = [statistics, text = text_in(answer.figure)] {
    return statistics_data(statistics, text);
  };
  answer.facts =
      Json::object({{"site", to_string(site)}, {"head", "all"}, {"method", "attention"}});
  answer.facts.set("result", Json::object({{"layers", statistics.layers()},
                                           {"heads_per_layer", statistics.heads()},
                                           {"heads", objects_of(*answer.records)}}));
  return answer;
}

std::vector<FieldInfo> stats_fields() {
  FieldInfo site = site_field();
  site.help = "which attention is counted";
  const auto left_out = [](std::string_view word) { return word == "pool" || word == "panoptic"; };
  std::erase_if(site.words, left_out);
  std::erase_if(site.aliases, [&](const auto& alias) { return left_out(alias.second); });
  FieldInfo metric{.name = "metric",
                   .help = "the number that is drawn",
                   .type = FieldType::kChoice,
                   .otherwise = std::string(head_metrics().front().name)};
  for (const HeadMetric& each : head_metrics()) metric.words.emplace_back(each.name);
  return {site,
          metric,
          {.name = "importance",
           .help = "also run back from each input's answer, for the metric importance",
           .type = FieldType::kFlag}};
}

}  // namespace

QuestionKind stats_question() {
  return {.name = "stats",
          .summary = "what kind each head is, counted over many inputs",
          .fields = stats_fields(),
          .verbs = {"stats"},
          .has_page = false,
          .counter = count_stats,
          .finish = finish_stats,
          .counted = what_is_counted};
}

}  // namespace fovea
