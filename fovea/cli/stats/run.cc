#include "fovea/cli/stats/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "fovea/base/apart.h"
#include "fovea/base/error.h"
#include "fovea/base/parallel.h"
#include "fovea/base/progress.h"
#include "fovea/base/watch.h"
#include "fovea/capture/site.h"
#include "fovea/cli/interrupt.h"
#include "fovea/cli/model_options.h"
#include "fovea/cli/terminal.h"
#include "fovea/engine/engine_subject.h"
#include "fovea/engine/named_target.h"
#include "fovea/engine/picture_input.h"
#include "fovea/engine/position_kinds.h"
#include "fovea/engine/translator.h"
#include "fovea/explain/head_importance.h"
#include "fovea/models/seq2seq_model.h"

namespace fovea {
namespace {

// Tokens that run side by side: enough for products with weights to be as fast as they get.
constexpr int64_t kPackedTokens = 512;
constexpr int64_t kLongText = 2048;  // tokens of a text that one core should not run alone
constexpr auto kBetweenSaves = std::chrono::seconds(2);

// What may be wrong with one input, while others are fine.
bool is_of_input(const Error& error) {
  return error.kind() == ErrorKind::kInvalidArgument || error.kind() == ErrorKind::kBadFile ||
         error.kind() == ErrorKind::kOutOfMemory;
}

class StatsRun {
 public:
  StatsRun(const Engine& engine, const Corpus& corpus, bool pictures, const StatsOptions& options)
      : engine_(engine),
        corpus_(corpus),
        pictures_(pictures),
        options_(options),
        end_(options.limit > 0 ? std::min(options.limit, corpus.size()) : corpus.size()),
        packs_(!options.importance) {
    if (engine.facts().has_decoder() && options.kind != SiteKind::kEncoderSelf) {
      translator_.emplace(engine);
    }
  }

  StatsResult run() {
    int64_t resumed_at = 0;
    if (!options_.state.empty()) {
      if (std::optional<StatsState> found = load_state(options_.state, identity(), end_)) {
        state_ = std::move(*found);
        resumed_at = state_.next;
      }
    }
    // An interrupt ends the batch, and is answered by saving what was counted before it.
    std::optional<InterruptGuard> guard;
    if (!options_.state.empty()) guard.emplace();
    if (!count_all()) {
      save();
      print_warnings({fmt::format("{} of {} inputs are counted; the same command goes on from {}",
                                  state_.next, end_, options_.state.string())});
      write_notes();
      guard.reset();
    }
    return {std::move(state_), options_.kind, resumed_at};
  }

 private:
  // False if it was interrupted.
  bool count_all() {
    const bool keeps = !options_.state.empty();
    Progress progress("counting", end_);
    progress.advance(state_.next);
    while (state_.next < end_) {
      const int64_t before = state_.next;
      // Goes on only between batches: a batch is the same whenever it is begun at the same input.
      const std::optional<StatsState> counted = keeps ? std::optional(state_) : std::nullopt;
      try {
        add_batch();
      } catch (const Error& error) {
        if (!keeps || error.kind() != ErrorKind::kCancelled) throw;
        state_ = *counted;
        return false;
      }
      progress.advance(state_.next - before);
      if (keeps && interrupt_waits()) return false;
      // The first at once, so that a place where nothing can be written is told early.
      if (keeps && std::chrono::steady_clock::now() - saved_ > kBetweenSaves) save();
    }
    return true;
  }

  void add_batch() {
    if (pictures_) return add_picture();
    if (translator_) return add_translation();
    add_texts();
  }

  RecorderOptions recording() const {
    return {.values = false,
            .wanted = [kind = options_.kind](SiteId site) { return site.kind == kind; }};
  }

  // Adds the sums of every record as soon as it is made.
  RecorderOptions recording(const PositionKinds& rows, const PositionKinds& cols) {
    RecorderOptions options = recording();
    options.give_to = [this, &rows, &cols](int64_t, const AttentionRecord& record) {
      state_.statistics.add(record.site, sums_of(record, rows, cols));
    };
    return options;
  }

  void leave_out(int64_t item, std::string_view reason) {
    if (state_.left_out++ > 0) return;
    // Who reads a file names it already.
    const std::string where = corpus_.where(item);
    state_.first_reason =
        reason.starts_with(where) ? std::string(reason) : fmt::format("{}: {}", where, reason);
  }

  void add_picture() {
    const int64_t item = state_.next++;
    std::optional<PictureInput> input;
    try {
      input = read_picture_input(engine_, corpus_.file(item));
    } catch (const Error& error) {
      if (!is_of_input(error) && error.kind() != ErrorKind::kIo) throw;
      return leave_out(item, error.what());
    }
    const PositionKinds patches = picture_kinds(input->input.patches);
    const PositionKinds queries;  // of objects: in no order, none special
    const bool of_queries =
        options_.kind == SiteKind::kDecoderSelf || options_.kind == SiteKind::kCross;
    const PositionKinds& rows = of_queries ? queries : patches;
    const PositionKinds& cols = options_.kind == SiteKind::kDecoderSelf ? queries : patches;
    count_run(input->input, recording(rows, cols));
    state_.statistics.end_input();
  }

  // With what the model writes, unless the corpus has a translation.
  void add_translation() {
    const int64_t item = state_.next++;
    Translation translation;
    try {
      translation = translator_->translate(corpus_.text(item), {.target = corpus_.target(item)},
                                           {.record = recording()});
    } catch (const Error& error) {
      if (!is_of_input(error)) throw;
      return leave_out(item, error.what());
    }
    const RunResult& result = translation.result;
    const PositionKinds target =
        text_kinds(*result.run.find_axis("target"), result.inputs.decoder_input_ids);
    const PositionKinds source =
        text_kinds(*result.run.find_axis("source"), result.inputs.input_ids);
    for (const auto& record : result.run.records) {
      state_.statistics.add(
          record->site,
          sums_of(*record, target, options_.kind == SiteKind::kCross ? source : target));
    }
    state_.statistics.end_input();
  }

  std::optional<EncodedInput> encode(int64_t item) {
    const int64_t most = engine_.facts().most_positions();
    try {
      EncodedInput input = engine_.encode(corpus_.text(item));
      if (most == 0 || input.inputs.tokens() <= most) return input;
      leave_out(item, fmt::format("it has {} tokens but the model takes {}", input.inputs.tokens(),
                                  most));
    } catch (const Error& error) {
      if (!is_of_input(error)) throw;
      leave_out(item, error.what());
    }
    return {};
  }

  // Texts that run side by side, and what they gave.
  struct Pack {
    std::vector<EncodedInput> texts;
    std::vector<PositionKinds> kinds;
    std::vector<std::vector<std::pair<SiteId, std::vector<HeadSums>>>> counted;  // of each text
  };

  // As many texts as fit, at least one if any is left.
  Pack next_pack() {
    Pack pack;
    int64_t tokens = 0;
    while (state_.next < end_) {
      if (!waiting_) waiting_ = encode(state_.next);
      if (waiting_) {
        tokens += waiting_->inputs.tokens();
        if (!pack.texts.empty() && tokens > kPackedTokens) break;
        pack.kinds.push_back(text_kinds(waiting_->axis, waiting_->inputs.input_ids,
                                        engine_.facts().text->padding_id));
        pack.texts.push_back(std::move(*waiting_));
        waiting_.reset();
      }
      ++state_.next;
    }
    pack.counted.resize(pack.texts.size());
    return pack;
  }

  // A pack for every core; a long text alone, on all cores.
  std::vector<Pack> next_packs() {
    const auto is_long = [](const EncodedInput& text) { return text.inputs.tokens() > kLongText; };
    std::vector<Pack> packs;
    while (state_.next < end_ && static_cast<int>(packs.size()) < thread_count()) {
      packs.push_back(next_pack());
      const bool was_long = !packs.back().texts.empty() && is_long(packs.back().texts.front());
      if (was_long || (waiting_ && is_long(*waiting_))) break;
    }
    return packs;
  }

  void add_texts() {
    std::vector<Pack> packs = next_packs();
    if (packs_) packs_ = count_packed(packs);
    for (const Pack& pack : packs) {
      for (size_t i = 0; i < pack.texts.size(); ++i) {
        if (!packs_) add_alone(pack.texts[i], pack.kinds[i]);
        for (const auto& [site, heads] : pack.counted[i]) state_.statistics.add(site, heads);
        state_.statistics.end_input();
      }
    }
  }

  // Counted in any order; who adds text by text gets the same sums from run to run. False, before
  // anything is counted, if the model's texts cannot stand side by side.
  bool count_packed(std::vector<Pack>& packs) {
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
        run_apart(static_cast<int64_t>(packs.size()),
                  [&](int64_t i) { count(packs[static_cast<size_t>(i)]); });
      }
      return true;
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::kUnsupported) return false;
      throw;
    }
  }

  void add_alone(const EncodedInput& text, const PositionKinds& kinds) {
    const RecorderOptions options = recording(kinds, kinds);
    if (const Seq2SeqModel* model = engine_.model().seq2seq()) {
      Recorder recorder(options);
      model->encode(text.inputs, {.recorder = &recorder});
    } else {
      count_run(text, options);
    }
  }

  // And what its answer hangs on, where that is asked for.
  void count_run(const EncodedInput& input, const RecorderOptions& record) {
    if (!options_.importance) {
      engine_.run(input, {.record = record});
      return;
    }
    const RunResult result =
        engine_.run(input, {.record = record, .logits = logits_for_target(engine_, /*last=*/true)});
    const TargetChoice choice{.position = std::max<int64_t>(input.inputs.tokens() - 1, 0)};
    const RecorderOptions outputs{.outputs = true,
                                  .wanted = record.wanted,
                                  .give_to = [this](int64_t, const AttentionRecord& layer) {
                                    std::vector<HeadSums> sums;
                                    for (const double importance : head_importance(layer)) {
                                      sums.push_back({.answers = 1, .importance = importance});
                                    }
                                    state_.statistics.add(layer.site, sums);
                                  }};
    EngineSubject(engine_, input, LogitRows::kNone)
        .gradient({.target = named_target(engine_, result, choice).target,
                   .inputs = false,
                   .record = outputs,
                   .at = {}});
  }

  Json identity() const {
    return Json::object({{"model", engine_.model_hash()},
                         {"dtype", options_.dtype},
                         {"attention", name_of(options_.kind)},
                         {"corpus", corpus_.fingerprint()},
                         {"limit", options_.limit},
                         {"importance", options_.importance}});
  }

  void save() {
    const InScope finished(nullptr);  // it is saved because the count is cancelled
    save_state(options_.state, state_, identity());
    saved_ = std::chrono::steady_clock::now();
  }

  const Engine& engine_;
  const Corpus& corpus_;
  bool pictures_;
  StatsOptions options_;
  int64_t end_;
  std::optional<Translator> translator_;
  bool packs_;                           // until the model says that it cannot
  std::optional<EncodedInput> waiting_;  // encoded, but too long for the last batch
  StatsState state_;
  std::chrono::steady_clock::time_point saved_;
};

}  // namespace

std::vector<SiteKind> countable_kinds(const Engine& engine, bool pictures) {
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

bool is_counted(MetricNeeds needs, const Engine& engine, bool pictures, SiteKind kind) {
  const bool of_queries = pictures && (kind == SiteKind::kDecoderSelf || kind == SiteKind::kCross);
  const bool one_axis = kind != SiteKind::kCross;
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
             (kind == SiteKind::kDecoderSelf ||
              (engine.facts().text_stack().causal && kind != SiteKind::kEncoderSelf));
  }
  return false;
}

StatsResult run_stats(const Engine& engine, const Corpus& corpus, bool pictures,
                      const StatsOptions& options) {
  return StatsRun(engine, corpus, pictures, options).run();
}

}  // namespace fovea
