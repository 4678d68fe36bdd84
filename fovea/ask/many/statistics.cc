#include "fovea/ask/many/statistics.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "fovea/base/apart.h"
#include "fovea/base/parallel.h"
#include "fovea/engine/engine_subject.h"
#include "fovea/engine/named_target.h"
#include "fovea/engine/position_kinds.h"
#include "fovea/engine/translator.h"
#include "fovea/explain/head_importance.h"

namespace fovea {
namespace {

// Tokens that run side by side: enough for products with weights to be as fast as they get.
constexpr int64_t kPackedTokens = 512;
constexpr int64_t kLongText = 2048;    // tokens of a text that one core should not run alone
constexpr int64_t kPacksOfThread = 4;  // packs are of different sizes: whoever is done takes more

// What one input gave, in the order in which it is added up.
using SiteSums = std::vector<std::pair<SiteId, std::vector<HeadSums>>>;

// A text that is encoded, or what is wrong with it.
struct ReadText {
  int64_t number = 0;
  std::string name;
  std::optional<EncodedInput> text;
  PositionKinds kinds;
  std::string reason;
};

// Texts of one chunk that run side by side.
struct Pack {
  std::vector<EncodedInput> texts;
  std::vector<PositionKinds> kinds;
  std::vector<int64_t> numbers;
  std::vector<SiteSums> counted;

  void add(ReadText read) {
    numbers.push_back(read.number);
    kinds.push_back(std::move(read.kinds));
    texts.push_back(*std::move(read.text));
    counted.emplace_back();
  }
};

class StatisticsCounter : public Counter {
 public:
  StatisticsCounter(const ManyAsked& asked, SiteKind site, bool importance)
      : engine_(asked.engine),
        pictures_(asked.pictures),
        site_(site),
        importance_(importance),
        packs_(!importance) {
    if (engine_.facts().has_decoder() && site != SiteKind::kEncoderSelf) {
      translator_.emplace(engine_, asked.languages);
    }
  }

  void count(InputQueue& inputs, ManyState& state) override {
    if (!pictures_ && !translator_) return count_texts(inputs, state);
    state.sums.at(inputs.peek()->number);
    count_one(inputs, state, [&](const InputQueue::Item& item, const Sample& sample) {
      SiteSums sums = pictures_ ? sums_of_picture(sample.input) : sums_of_translation(sample.input);
      return
          [number = item.number, sums = std::move(sums)](ManyState& to) { add(number, sums, to); };
    });
  }

 private:
  static void add(int64_t number, const SiteSums& sums, ManyState& state) {
    CorpusStatistics& chunk = state.sums.at(number);
    for (const auto& [site, heads] : sums) chunk.add(site, heads);
    chunk.end_input();
  }

  RecorderOptions recording() const {
    return {.values = false, .wanted = [site = site_](SiteId each) { return each.kind == site; }};
  }

  // Every record is read as soon as it is made.
  RecorderOptions recording(const PositionKinds& rows, const PositionKinds& cols,
                            SiteSums& sums) const {
    RecorderOptions options = recording();
    options.give_to = [&](int64_t, const AttentionRecord& record) {
      sums.emplace_back(record.site, sums_of(record, rows, cols));
    };
    return options;
  }

  SiteSums sums_of_picture(const Input& input) const {
    const PictureInput picture = picture_of(engine_, input);
    const PositionKinds patches = picture_kinds(picture.input.patches);
    const PositionKinds queries;  // of objects: in no order, none special
    const bool of_queries = site_ == SiteKind::kDecoderSelf || site_ == SiteKind::kCross;
    const PositionKinds& rows = of_queries ? queries : patches;
    const PositionKinds& cols = site_ == SiteKind::kDecoderSelf ? queries : patches;
    SiteSums sums;
    run(picture.input, recording(rows, cols, sums), sums);
    return sums;
  }

  // With what the model writes, unless a target is given.
  SiteSums sums_of_translation(const Input& input) const {
    const Translation translation =
        translator_->translate(text_of(input), input.translate, {.record = recording()});
    const RunResult& result = translation.result;
    const PositionKinds target =
        text_kinds(*result.run.find_axis("target"), result.inputs.decoder_input_ids);
    const PositionKinds source =
        text_kinds(*result.run.find_axis("source"), result.inputs.input_ids);
    const bool cross = site_ == SiteKind::kCross;
    SiteSums sums;
    for (const auto& record : result.run.records) {
      sums.emplace_back(record->site, sums_of(*record, target, cross ? source : target));
    }
    return sums;
  }

  SiteSums sums_of_text(const EncodedInput& text, const PositionKinds& kinds) const {
    SiteSums sums;
    const RecorderOptions options = recording(kinds, kinds, sums);
    if (engine_.model().seq2seq() != nullptr) {
      Recorder recorder(options);
      engine_.run_encoder(text, recorder);
    } else {
      run(text, options, sums);
    }
    return sums;
  }

  // And what its answer hangs on, where that is asked for.
  void run(const EncodedInput& input, const RecorderOptions& record, SiteSums& sums) const {
    if (!importance_) {
      engine_.run(input, {.record = record});
      return;
    }
    const RunResult result =
        engine_.run(input, {.record = record, .logits = logits_for_target(engine_, /*last=*/true)});
    const TargetChoice choice{.position = std::max<int64_t>(input.inputs.tokens() - 1, 0)};
    const RecorderOptions outputs{.outputs = true,
                                  .wanted = record.wanted,
                                  .give_to = [&](int64_t, const AttentionRecord& layer) {
                                    std::vector<HeadSums> heads;
                                    for (const double importance : head_importance(layer)) {
                                      heads.push_back({.answers = 1, .importance = importance});
                                    }
                                    sums.emplace_back(layer.site, std::move(heads));
                                  }};
    EngineSubject(engine_, input, LogitRows::kNone)
        .gradient({.target = named_target(engine_, result, choice).target,
                   .inputs = false,
                   .record = outputs,
                   .at = {}});
  }

  ReadText read(const InputQueue::Item& item) const {
    ReadText read{.number = item.number, .name = item.name};
    try {
      EncodedInput input = engine_.encode(text_of(item.read().input));
      const int64_t most = engine_.facts().most_positions();
      if (most > 0 && input.inputs.tokens() > most) {
        fail(ErrorKind::kInvalidArgument, "it has {} tokens but the model takes {}",
             input.inputs.tokens(), most);
      }
      read.kinds = text_kinds(input.axis, input.inputs.input_ids, engine_.facts().text->padding_id);
      read.text = std::move(input);
    } catch (const Error& error) {
      if (!is_of_input(error)) throw;
      read.reason = error.what();
    }
    return read;
  }

  // As many texts of one chunk as fit. Those that cannot be read go to `left_out`.
  Pack next_pack(InputQueue& inputs, std::vector<ReadText>& left_out) {
    Pack pack;
    int64_t tokens = 0;
    const int64_t chunk = ChunkedStatistics::chunk_of(inputs.peek()->number);
    while (const InputQueue::Item* item = inputs.peek()) {
      if (ChunkedStatistics::chunk_of(item->number) != chunk) break;
      if (!waiting_) waiting_ = read(*item);
      if (waiting_->text) {
        tokens += waiting_->text->inputs.tokens();
        if (!pack.texts.empty() && tokens > kPackedTokens) break;
        pack.add(*std::move(waiting_));
      } else {
        left_out.push_back(*std::move(waiting_));
      }
      waiting_.reset();
      inputs.take();
    }
    return pack;
  }

  // Enough for all cores; a long text alone, on all of them.
  std::vector<Pack> next_packs(InputQueue& inputs, std::vector<ReadText>& left_out) {
    const auto is_long = [](const EncodedInput& text) { return text.inputs.tokens() > kLongText; };
    std::vector<Pack> packs;
    while (std::ssize(packs) < kPacksOfThread * thread_count() && inputs.peek() != nullptr) {
      if (waiting_ && waiting_->text && is_long(*waiting_->text) && !packs.empty()) break;
      Pack pack = next_pack(inputs, left_out);
      if (pack.texts.empty()) continue;
      packs.push_back(std::move(pack));
      if (is_long(packs.back().texts.front())) break;
    }
    return packs;
  }

  // In order, whoever was counted first: the same sums from run to run.
  void count_texts(InputQueue& inputs, ManyState& state) {
    std::vector<ReadText> left_out;
    std::vector<Pack> packs = next_packs(inputs, left_out);
    if (packs_) packs_ = count_packed(packs);
    if (!packs_) count_alone(packs);
    auto next_left_out = left_out.begin();
    const auto leave_out_before = [&](int64_t number) {
      for (; next_left_out != left_out.end() && next_left_out->number < number; ++next_left_out) {
        state.sums.at(next_left_out->number);
        state.leave_out(next_left_out->number, next_left_out->name, next_left_out->reason);
        state.end_input(next_left_out->number);
      }
    };
    for (const Pack& pack : packs) {
      for (size_t i = 0; i < pack.texts.size(); ++i) {
        leave_out_before(pack.numbers[i]);
        add(pack.numbers[i], pack.counted[i], state);
        state.end_input(pack.numbers[i]);
      }
    }
    leave_out_before(std::numeric_limits<int64_t>::max());
  }

  // False, before anything is counted, if the model's texts cannot stand side by side.
  bool count_packed(std::vector<Pack>& packs) const {
    const auto count = [&](Pack& pack) {
      RecorderOptions options = recording();
      options.give_to = [&pack](int64_t text, const AttentionRecord& record) {
        const auto t = static_cast<size_t>(text);
        pack.counted[t].emplace_back(record.site, sums_of(record, pack.kinds[t], pack.kinds[t]));
      };
      engine_.run_packed(pack.texts, options);
    };
    try {
      if (packs.size() == 1) {
        count(packs.front());
      } else {
        run_apart(std::ssize(packs), [&](int64_t i) { count(packs[static_cast<size_t>(i)]); });
      }
      return true;
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::kUnsupported) return false;
      throw;
    }
  }

  void count_alone(std::vector<Pack>& packs) const {
    for (Pack& pack : packs) {
      for (size_t i = 0; i < pack.texts.size(); ++i) {
        pack.counted[i] = sums_of_text(pack.texts[i], pack.kinds[i]);
      }
    }
  }

  Engine engine_;
  bool pictures_;
  SiteKind site_;
  bool importance_;
  std::optional<Translator> translator_;
  bool packs_;                       // until the model says that it cannot
  std::optional<ReadText> waiting_;  // the next one, which was too long for the last pack
};

}  // namespace

std::unique_ptr<Counter> statistics_counter(const ManyAsked& asked, SiteKind site,
                                            bool importance) {
  return std::make_unique<StatisticsCounter>(asked, site, importance);
}

const HeadMetric& metric_of(const Question& question) {
  const std::optional<std::string> name = question.word("metric");
  for (const HeadMetric& metric : head_metrics()) {
    if (name && metric.name == *name) return metric;
  }
  return head_metrics().front();
}

std::vector<SiteKind> countable_sites(const Engine& engine, bool pictures) {
  const ModelFacts& facts = engine.facts();
  if (facts.takes_features()) {
    fail(ErrorKind::kUnsupported,
         "{} takes sound, and statistics are counted over texts and pictures", engine.name());
  }
  if (facts.has_decoder() || facts.finds_objects()) {
    return {SiteKind::kEncoderSelf, SiteKind::kDecoderSelf, SiteKind::kCross};
  }
  if (!facts.has_text_tower() || !facts.takes_pixels()) return {SiteKind::kSelf};
  return {pictures ? SiteKind::kVisionSelf : SiteKind::kTextSelf};
}

bool gives_answer(const Engine& engine) {
  const HeadKind head = engine.facts().head;
  return head == HeadKind::kSequenceClass || head == HeadKind::kPictureClass ||
         head == HeadKind::kCausalLm || head == HeadKind::kObjects;
}

bool is_counted(MetricNeeds needs, const Engine& engine, bool pictures, SiteKind site) {
  const bool of_queries = pictures && (site == SiteKind::kDecoderSelf || site == SiteKind::kCross);
  const bool one_axis = site != SiteKind::kCross;
  const bool has_specials = !pictures || !engine.facts().picture->front_tokens.empty();
  switch (needs) {
    case MetricNeeds::kRows:
      return true;
    case MetricNeeds::kDistances:
      return one_axis && !of_queries;
    case MetricNeeds::kDelimiters:
      return !of_queries && has_specials;
    case MetricNeeds::kFirst:
      return one_axis && !of_queries && has_specials;
    case MetricNeeds::kTokens:
      return one_axis && !pictures;
    case MetricNeeds::kAnswer:
      return gives_answer(engine);
    case MetricNeeds::kCausalTokens:
      return one_axis && !pictures &&
             (site == SiteKind::kDecoderSelf ||
              (engine.facts().text_stack().causal && site != SiteKind::kEncoderSelf));
  }
  return false;
}

}  // namespace fovea
