#include "fovea/cli/stats_run.h"

#include <fmt/format.h>

#include <chrono>

#include "fovea/base/error.h"
#include "fovea/base/progress.h"
#include "fovea/cli/interrupt.h"
#include "fovea/engine/picture_input.h"
#include "fovea/engine/position_kinds.h"
#include "fovea/models/seq2seq_model.h"

namespace fovea {
namespace {

// Tokens that run side by side: enough for products with weights to be as fast as they get.
constexpr int64_t kPackedTokens = 512;
constexpr auto kBetweenSaves = std::chrono::seconds(2);
constexpr int64_t kStateVersion = 1;

class StatsRun {
 public:
  StatsRun(const Engine& engine, const Corpus& corpus, bool pictures, const StatsOptions& options)
      : engine_(engine),
        corpus_(corpus),
        pictures_(pictures),
        options_(options),
        end_(options.limit > 0 ? std::min(options.limit, corpus.size()) : corpus.size()) {
    result_.kind = counted_kind(engine, pictures);
  }

  StatsResult run() {
    if (!options_.state.empty()) load();
    Progress progress("counting", end_);
    progress.advance(next_);
    saved_ = std::chrono::steady_clock::now();
    while (next_ < end_) {
      const int64_t before = next_;
      pictures_ ? add_picture() : add_texts();
      progress.advance(next_ - before);
      // Only between batches: a batch is the same whenever it is begun at the same input.
      if (std::chrono::steady_clock::now() - saved_ > kBetweenSaves) save();
    }
    std::error_code ignored;
    if (!options_.state.empty()) std::filesystem::remove(options_.state, ignored);
    return std::move(result_);
  }

 private:
  RecorderOptions recording(std::function<const PositionKinds&(int64_t)> kinds) {
    return {.values = false,
            .wanted = [kind = result_.kind](SiteId site) { return site.kind == kind; },
            .give_to =
                [this, kinds = std::move(kinds)](int64_t text, AttentionRecord record) {
                  result_.statistics.add(record, kinds(text));
                }};
  }

  void leave_out(int64_t item, std::string_view reason) {
    if (result_.left_out++ == 0) {
      result_.first_reason = fmt::format("{}: {}", corpus_.where(item), reason);
    }
  }

  void add_picture() {
    const int64_t item = next_++;
    std::optional<PictureInput> input;
    try {
      input = read_picture_input(engine_, corpus_.file(item));
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::kUnsupported) throw;
      return leave_out(item, error.what());
    }
    const PositionKinds kinds = picture_kinds(input->input.patches);
    engine_.run(input->input,
                {.record = recording([&](int64_t) -> const PositionKinds& { return kinds; })});
    result_.statistics.end_input();
  }

  // The texts of one batch: as many as fit, at least one.
  std::vector<TextInput> next_texts() {
    std::vector<TextInput> texts;
    int64_t tokens = 0;
    while (next_ < end_) {
      TextInput input;
      try {
        input = engine_.encode(corpus_.text(next_));
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::kInvalidArgument && error.kind() != ErrorKind::kBadFile) {
          throw;
        }
        leave_out(next_++, error.what());
        continue;
      }
      const int64_t most = engine_.facts().most_tokens;
      if (most > 0 && input.inputs.tokens() > most) {
        leave_out(next_++, fmt::format("it has {} tokens but the model takes {}",
                                       input.inputs.tokens(), most));
        continue;
      }
      if (!texts.empty() && tokens + input.inputs.tokens() > kPackedTokens) break;
      tokens += input.inputs.tokens();
      texts.push_back(std::move(input));
      ++next_;
    }
    return texts;
  }

  void add_texts() {
    const std::vector<TextInput> texts = next_texts();
    std::vector<PositionKinds> kinds;
    for (const TextInput& text : texts)
      kinds.push_back(text_kinds(text.axis, text.inputs.input_ids));
    const RecorderOptions options = recording(
        [&](int64_t text) -> const PositionKinds& { return kinds[static_cast<size_t>(text)]; });
    if (packs_) packs_ = try_packed(texts, options);
    if (!packs_) {
      for (size_t i = 0; i < texts.size(); ++i) {
        run_one(texts[i], recording([&](int64_t) -> const PositionKinds& { return kinds[i]; }));
      }
    }
    for (size_t i = 0; i < texts.size(); ++i) result_.statistics.end_input();
  }

  // Refused before anything is recorded.
  bool try_packed(const std::vector<TextInput>& texts, const RecorderOptions& options) {
    try {
      engine_.run_packed(texts, options);
      return true;
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::kUnsupported) return false;
      throw;
    }
  }

  void run_one(const TextInput& text, const RecorderOptions& options) {
    if (const Seq2SeqModel* model = engine_.model().seq2seq()) {
      Recorder recorder(options);
      model->encode(text.inputs, {.recorder = &recorder});
    } else {
      engine_.run(text, {.record = options});
    }
  }

  void save() {
    saved_ = std::chrono::steady_clock::now();
    if (options_.state.empty()) return;
    Json json = Json::object();
    json.set("fovea_stats", kStateVersion);
    json.set("model", engine_.model_hash());
    json.set("corpus", corpus_.fingerprint());
    json.set("limit", options_.limit);
    json.set("next", next_);
    json.set("left_out", result_.left_out);
    json.set("first_reason", result_.first_reason);
    json.set("statistics", result_.statistics.to_json());
    const InterruptGuard guard;
    write_file_atomic(options_.state, [&](FileWriter& file) { file.write(json.dump() + "\n"); });
  }

  void load() {
    std::error_code ignored;
    if (!std::filesystem::exists(options_.state, ignored)) return;
    const std::string where = options_.state.string();
    const Json json = Json::parse(read_text_file(options_.state), where);
    const auto is = [&](const char* key, const std::string& wanted) {
      const Json* value = json.find(key);
      return value != nullptr && value->is_string() && value->as_string(where) == wanted;
    };
    const Json* version = json.find("fovea_stats");
    if (version == nullptr || !version->is_int() || version->as_int(where) != kStateVersion ||
        !is("model", engine_.model_hash()) || !is("corpus", corpus_.fingerprint()) ||
        json.at("limit", where).as_int(where) != options_.limit) {
      fail(ErrorKind::kBadFile,
           "{} is of another count: other model, corpus or --limit; remove it to begin anew",
           where);
    }
    next_ = json.at("next", where).as_int(where);
    if (next_ < 0 || next_ > end_) {
      fail(ErrorKind::kBadFile, "{} says {} inputs are counted but there are {}; remove it", where,
           next_, end_);
    }
    result_.left_out = json.at("left_out", where).as_int(where);
    result_.first_reason = json.at("first_reason", where).as_string(where);
    result_.statistics = CorpusStatistics::from_json(json.at("statistics", where), where);
    result_.resumed_at = next_;
  }

  const Engine& engine_;
  const Corpus& corpus_;
  bool pictures_;
  StatsOptions options_;
  int64_t end_;
  bool packs_ = true;  // until the model says that it cannot
  int64_t next_ = 0;   // the first input that is not counted
  StatsResult result_;
  std::chrono::steady_clock::time_point saved_;
};

}  // namespace

SiteKind counted_kind(const Engine& engine, bool pictures) {
  const ModelFacts& facts = engine.facts();
  if (facts.has_decoder()) return SiteKind::kEncoderSelf;
  if (!facts.has_text_tower()) return SiteKind::kSelf;
  return pictures ? SiteKind::kVisionSelf : SiteKind::kTextSelf;
}

StatsResult run_stats(const Engine& engine, const Corpus& corpus, bool pictures,
                      const StatsOptions& options) {
  return StatsRun(engine, corpus, pictures, options).run();
}

}  // namespace fovea
