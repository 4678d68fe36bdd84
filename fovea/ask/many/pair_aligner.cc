#include "fovea/ask/many/pair_aligner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "fovea/ask/alignment.h"
#include "fovea/ask/many/map_ranking.h"
#include "fovea/base/parse.h"
#include "fovea/base/progress.h"
#include "fovea/engine/translator.h"
#include "fovea/explain/target.h"

namespace fovea {
namespace {

constexpr const char* kLinks = "links";
constexpr size_t kPairsOfDirection = 6;  // that tell which way a model translates
// What a score by gold links adds up.
constexpr std::pair<const char*, int64_t AlignmentScore::*> kScoreCounts[] = {
    {"gold.sentences", &AlignmentScore::sentences},
    {"gold.links", &AlignmentScore::links},
    {"gold.sure", &AlignmentScore::sure},
    {"gold.links_sure", &AlignmentScore::links_sure},
    {"gold.links_possible", &AlignmentScore::links_possible}};

int64_t count_in(const ManyState& state, const char* name) {
  const auto found = state.counts.find(name);
  return found == state.counts.end() ? 0 : found->second;
}

struct TextPair {
  std::string source;
  std::string target;
  std::optional<GoldAlignment> gold;

  // A side without words cannot be aligned: the pair has no links.
  bool empty() const { return is_blank(source) || is_blank(target); }
};

// Whether a pair is long enough to tell languages apart: numbers and exclamations are the same in
// many.
bool tells_direction(const TextPair& pair) {
  constexpr size_t kLong = 20;  // bytes
  return std::min(pair.source.size(), pair.target.size()) >= kLong && pair.source != pair.target;
}

TextPair pair_of(const Sample& sample) {
  const std::optional<std::string>& target = sample.input.translate.target;
  if (!target) fail(ErrorKind::kInvalidArgument, "it has no translation to align with");
  return {text_of(sample.input), *target, sample.truth.links};
}

// One model, and the map of it that alignments are read from. A reversed one translates back.
class PairAligner {
 public:
  PairAligner(Engine engine, Languages languages, AlignOptions options, bool reversed)
      : translator_(std::move(engine), languages), options_(options), reversed_(reversed) {}

  const AlignOptions& options() const { return options_; }

  PairMaps maps(const TextPair& pair, bool norms, std::vector<std::string>& warnings) const {
    TranslateOptions how{.words = WordDivision::kSpaces};
    how.target = reversed_ ? pair.source : pair.target;
    RunOptions run;
    run.record = {.values = norms, .block = norms, .wanted = [](SiteId site) {
                    return site.kind == SiteKind::kCross;
                  }};
    Translation translation =
        translator_.translate(reversed_ ? pair.target : pair.source, how, run);
    for (std::string& warning : translation.result.warnings) {
      warnings.push_back(std::move(warning));
    }
    return pair_maps(translation.result.run, translation.prefix, std::move(translation.anchors));
  }

  // Source-target links, whichever way the model translates.
  Alignment links(const TextPair& pair, const MapChoice& choice,
                  std::vector<std::string>& warnings) const {
    const PairMaps read = maps(pair, options_.norms, warnings);
    const Alignment links = align_pair(read, choice, options_).links;
    return reversed_ ? transposed(links) : links;
  }

  // How well the model writes one side of the pair from the other: log p of a token, the mean. Its
  // own way, or the other way round.
  double fit(const TextPair& pair, bool turned) const {
    const bool backwards = reversed_ != turned;
    TranslateOptions how;
    how.target = backwards ? pair.source : pair.target;
    const Translation translation =
        translator_.translate(backwards ? pair.target : pair.source, how,
                              {.record = {.values = false, .wanted = [](SiteId) { return false; }},
                               .logits = LogitRows::kAll});
    const Tensor& logits = translation.result.outputs.logits.tensor;
    const std::vector<int64_t>& ids = translation.result.inputs.decoder_input_ids;
    const auto words = static_cast<size_t>(logits.size(1));
    double sum = 0;
    int64_t tokens = 0;
    for (auto row = static_cast<size_t>(translation.prefix - 1); row + 1 < ids.size(); ++row) {
      const std::vector<double> p =
          probabilities(logits.values<float>().subspan(row * words, words));
      sum += std::log(std::max(p[static_cast<size_t>(ids[row + 1])], 1e-30));
      ++tokens;
    }
    return tokens == 0 ? 0 : sum / static_cast<double>(tokens);
  }
  const std::string& name() const { return translator_.engine().name(); }

  HeadRanking ranking() const {
    return HeadRanking({.convention = options_.convention, .links = options_.links});
  }

 private:
  Translator translator_;
  AlignOptions options_;
  bool reversed_;
};

class AlignCounter : public Counter {
 public:
  explicit AlignCounter(const ManyAsked& asked)
      : forward_(asked.engine, asked.languages, align_options(asked.question), false),
        ranks_only_(asked.question.flag("ranking")),
        // Who names the languages has said which way it goes.
        asks_direction_(asked.languages.source.empty() && asked.languages.target.empty()),
        most_ranked_(ranks_only_ ? std::numeric_limits<int64_t>::max() : kRankedPairs) {
    if (const auto rank = asked.question.number("rank")) {
      most_ranked_ = static_cast<int64_t>(*rank);
    }
    if (asked.question.word("reverse_model") && !asked.reverse) {
      fail(ErrorKind::kInvalidArgument, Field{"reverse_model"}, "it is not opened");
    }
    if (!asked.reverse) return;
    // Which map is the asker's choice of the first model only: the second has others.
    AlignOptions own = align_options(asked.question);
    own.layer.reset();
    own.head.reset();
    own.reading.reset();
    own.mean = false;
    backward_.emplace(*asked.reverse,
                      Languages{.source = asked.languages.target, .target = asked.languages.source},
                      own, true);
    if (const auto how = asked.question.word("symmetrize"))
      joined_by_ = kSymmetrizations.named(*how);
  }

  void prepare(InputQueue& inputs, ManyState& state) override {
    if (ranks_only_) return rank_all(inputs, state);
    if (state.settled.is_null()) state.settled = choose_maps(inputs);
    const auto choice = [&](const char* name) -> std::optional<MapChoice> {
      const Json* json = state.settled.find(name);
      if (json == nullptr || json->is_null()) return {};
      return map_choice_of(*json);
    };
    map_ = choice("map");
    reverse_map_ = choice("reverse_map");
  }

  void count(InputQueue& inputs, ManyState& state) override {
    if (ranks_only_) return state.end_input(inputs.take().number);  // more than are ranked
    const InputQueue::Item* item = inputs.peek();
    ManyState::Row row{.input = item->number};
    count_one(inputs, state, [&](const InputQueue::Item& each, const Sample& sample) {
      const TextPair pair = pair_of(sample);
      std::vector<std::string> warnings;
      const Alignment links = align(pair, warnings);
      for (const Link& link : links) {
        row.numbers.push_back(static_cast<double>(link.source));
        row.numbers.push_back(static_cast<double>(link.target));
      }
      AlignmentScore score;
      if (pair.gold) score.add(*pair.gold, links);
      return [=, number = each.number, name = each.name](ManyState& to) {
        to.counts[kLinks] += std::ssize(links);
        for (const auto& [count, member] : kScoreCounts) {
          if (score.sentences > 0) to.counts[count] += score.*member;
        }
        note(number, name, warnings, to);
      };
    });
    // A pair that is left out has a row without links: files of links have a line for each pair.
    state.rows.push_back(std::move(row));
  }

 private:
  static void note(int64_t number, const std::string& name,
                   const std::vector<std::string>& warnings, ManyState& state) {
    if (!warnings.empty()) {
      state.noted.add(number, fmt::format("{}: {}", name, warnings.front()));
    }
  }

  Alignment align(const TextPair& pair, std::vector<std::string>& warnings) const {
    if (pair.empty()) return {};
    const auto links = [&](const PairAligner& aligner,
                           const std::optional<MapChoice>& choice) -> Alignment {
      if (choice) return aligner.links(pair, *choice, warnings);
      aligner.maps(pair, false, warnings);  // says mostly what is wrong with every pair
      fail(ErrorKind::kInvalidArgument, "no map can be ranked by the pairs there are");
    };
    const Alignment found = links(forward_, map_);
    return backward_ ? symmetrize(found, links(*backward_, reverse_map_), joined_by_) : found;
  }

  // A model that writes the first side from the second much better than its own way round was given
  // for the wrong direction.
  static std::string wrong_way(const PairAligner& aligner, const std::vector<TextPair>& pairs,
                               bool reverse) {
    constexpr double kClearly = 1;  // nats of a token
    double own = 0, turned = 0;
    for (const TextPair& pair : pairs) {
      own += aligner.fit(pair, false) / static_cast<double>(pairs.size());
      turned += aligner.fit(pair, true) / static_cast<double>(pairs.size());
    }
    if (pairs.empty() || !(turned > own + kClearly)) return "";
    const std::string numbers = fmt::format(
        "by {} of the first pairs log p of a token is {:.1f} its way and {:.1f} the other way "
        "round",
        pairs.size(), own, turned);
    return reverse ? fmt::format(
                         "{} seems to translate from the first text into the second, as the "
                         "first model does, and a reverse model goes the other way: {}",
                         aligner.name(), numbers)
                   : fmt::format(
                         "{} seems to translate from the second text into the first: {}; "
                         "are the two texts swapped?",
                         aligner.name(), numbers);
  }

  // By the first pairs that can be read and are not empty.
  Json choose_maps(InputQueue& inputs) const {
    Progress progress("choosing the map", std::min(most_ranked_, inputs.count()));
    HeadRanking forward = forward_.ranking();
    HeadRanking backward = forward_.ranking();
    std::vector<std::string> told_later;
    std::vector<TextPair> first;
    for (size_t i = 0; forward.sentences() < most_ranked_; ++i) {
      const InputQueue::Item* item = inputs.peek(i);
      if (item == nullptr) break;
      try {
        const TextPair pair = pair_of(item->read());
        if (pair.empty()) continue;
        const PairMaps maps = forward_.maps(pair, false, told_later);
        if (backward_) backward.add(backward_->maps(pair, false, told_later));
        forward.add(maps);
        if (first.size() < kPairsOfDirection && tells_direction(pair)) first.push_back(pair);
        progress.advance();
      } catch (const Error& error) {
        if (!is_of_input(error)) throw;  // it is left out when its turn comes
      }
    }
    const auto chosen = [](const HeadRanking& ranking, const AlignOptions& options) {
      const std::vector<HeadStatistics> statistics = ranking.statistics();
      return statistics.empty() ? Json() : to_json(choose_map(statistics, options));
    };
    Json json = Json::object({{"map", chosen(forward, forward_.options())}});
    if (backward_) json.set("reverse_map", chosen(backward, backward_->options()));
    if (asks_direction_) {
      Json notes = Json::array();
      const auto add = [&](const std::string& note) {
        if (!note.empty()) notes.push_back(note);
      };
      add(wrong_way(forward_, first, false));
      if (backward_) add(wrong_way(*backward_, first, true));
      if (!notes.as_array("notes").empty()) json.set("notes", std::move(notes));
    }
    return json;
  }

  // All at once: who is interrupted begins anew.
  void rank_all(InputQueue& inputs, ManyState& state) const {
    if (!state.settled.is_null() || inputs.peek() == nullptr) return;
    HeadRanking ranking = forward_.ranking();
    ManyState ranked;
    Progress progress("choosing the map", std::min(most_ranked_, inputs.count()));
    while (inputs.peek() != nullptr && ranking.sentences() < most_ranked_) {
      count_one(inputs, ranked, [&](const InputQueue::Item& item, const Sample& sample) {
        const TextPair pair = pair_of(sample);
        std::vector<std::string> warnings;
        if (!pair.empty()) {
          ranking.add(forward_.maps(pair, true, warnings), pair.gold ? &*pair.gold : nullptr);
          progress.advance();
        }
        return [=, number = item.number, name = item.name](ManyState& to) {
          note(number, name, warnings, to);
        };
      });
    }
    if (ranking.sentences() == 0 && ranked.left_out.count < ranked.inputs()) {
      fail(ErrorKind::kBadFile, "there is no pair with words on both sides to rank maps by");
    }
    if (ranking.sentences() > 0) {
      ranked.settled = ranking_json(rank_maps(ranking.statistics(), forward_.options()));
    }
    ranked.of = state.of;
    state.merge(std::move(ranked));
  }

  PairAligner forward_;
  std::optional<PairAligner> backward_;
  Symmetrization joined_by_ = kUsualSymmetrization;
  bool ranks_only_;
  bool asks_direction_;
  int64_t most_ranked_;
  std::optional<MapChoice> map_, reverse_map_;  // none: no pair has words on both sides
};

std::string joined_by(const Question& question) {
  return question.word("symmetrize").value_or(std::string(to_string(kUsualSymmetrization)));
}

// What the whole says beside the links.
Json align_result(const ManyAsked& asked, const ManyState& state) {
  const auto settled = [&](const char* name) {
    const Json* json = state.settled.find(name);
    return json != nullptr ? *json : Json();
  };
  Json json = Json::object({{"model", asked.engine.name()}, {"map", settled("map")}});
  if (const auto reverse = asked.question.word("reverse_model")) {
    json.set("reverse_model", *reverse);
    json.set("reverse_map", settled("reverse_map"));
    json.set("symmetrization", joined_by(asked.question));
  }
  if (!settled("notes").is_null()) json.set("notes", settled("notes"));
  json.set("pairs", state.inputs());
  json.set("links", count_in(state, kLinks));
  if (const std::optional<AlignmentScore> score = alignment_score(state)) {
    json.set("aer", score->aer());
    json.set("precision", score->precision());
    json.set("recall", score->recall());
  }
  return json;
}

}  // namespace

std::unique_ptr<Counter> align_counter(const ManyAsked& asked) {
  return std::make_unique<AlignCounter>(asked);
}

std::optional<AlignmentScore> alignment_score(const ManyState& state) {
  AlignmentScore score;
  for (const auto& [name, member] : kScoreCounts) score.*member = count_in(state, name);
  return score.sentences > 0 ? std::optional(score) : std::nullopt;
}

Alignment links_of(const ManyState::Row& row) {
  Alignment links;
  for (size_t i = 0; i + 1 < row.numbers.size(); i += 2) {
    links.push_back(
        {static_cast<int64_t>(row.numbers[i]), static_cast<int64_t>(row.numbers[i + 1])});
  }
  return links;
}

std::vector<std::string> settled_texts(const ManyAsked& asked, const ManyState& state) {
  std::vector<std::string> texts;
  const auto add = [&](const char* name, const std::string& model, const char* direction) {
    const Json* json = state.settled.find(name);
    if (json == nullptr || json->is_null()) return;
    const MapChoice choice = map_choice_of(*json);
    texts.push_back(fmt::format("{}: {}links come from {}{}", model, direction, to_string(choice),
                                choice.why.empty() ? std::string() : "; " + choice.why));
  };
  add("map", asked.engine.name(), "");
  if (asked.reverse) {
    add("reverse_map", asked.reverse->name(), "reverse ");
    texts.push_back("both directions are joined by " + joined_by(asked.question));
  }
  if (const Json* notes = state.settled.find("notes")) {
    for (const Json& note : notes->as_array("notes")) texts.push_back(note.as_string("notes"));
  }
  return texts;
}

Answer align_answer(const ManyAsked& asked, const ManyState& state) {
  TableFigure table{.columns = {{.name = "", .words = true}}};
  table.text.title = asked.engine.name() + " · word alignment";
  table.text.caption = fmt::format("{} pairs of texts", state.inputs());
  Json result = state.settled;
  if (!asked.question.flag("ranking")) {
    result = align_result(asked, state);
    for (const std::string& text : settled_texts(asked, state)) table.notes.push_back(text);
    table.rows.push_back(
        {.label = "links", .cells = {{.text = std::to_string(count_in(state, kLinks))}}});
    if (const std::optional<AlignmentScore> score = alignment_score(state)) {
      const auto percent = [](double share) { return fmt::format("{:.1f} %", 100 * share); };
      table.rows.push_back({.label = "AER", .cells = {{.text = percent(score->aer())}}});
      table.rows.push_back(
          {.label = "precision", .cells = {{.text = percent(score->precision())}}});
      table.rows.push_back({.label = "recall", .cells = {{.text = percent(score->recall())}}});
      table.text.caption += fmt::format(", {} of them scored", score->sentences);
    }
  }
  Answer answer{.figure = std::move(table)};
  if (!state.rows.empty()) {
    Json alignments = Json::array();
    answer.records = Records{.columns = {"links"}, .rows = {}};
    for (const ManyState::Row& row : state.rows) {
      alignments.push_back(to_moses(links_of(row)));
      answer.records->rows.push_back({to_moses(links_of(row))});
    }
    result.set("alignments", std::move(alignments));
  }
  answer.facts = Json::object({{"site", to_string(SiteKind::kCross)},
                               {"method", "alignment"},
                               {"result", std::move(result)}});
  return answer;
}

}  // namespace fovea
