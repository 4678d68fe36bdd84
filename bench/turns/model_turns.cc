// Works of whole models, every map kept and readable.
#include <fstream>
#include <numeric>
#include <random>

#include "bench/turns/turn.h"
#include "fovea/ask/ask_all.h"
#include "fovea/cli/corpus.h"
#include "fovea/engine/engine_subject.h"
#include "fovea/engine/input_file.h"
#include "fovea/engine/translator.h"
#include "fovea/explain/method.h"
#include "fovea/explain/rollout.h"

namespace fovea {
namespace {

// A line of /proc/self/status in MB: "VmRSS" is what is held now, "VmHWM" the most so far.
double memory_mb(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(name + ":")) return std::stod(line.substr(name.size() + 1)) * 1024 / 1e6;
  }
  return 0;
}

Json timed(double seconds) {
  Json answer = Json::object();
  answer.set("seconds", seconds);
  return answer;
}

// The first numbers of the last position's state: the other side must have the same.
Json first_of_last_row(const Tensor& states) {
  const auto row = states.values<float>().last(static_cast<size_t>(states.shape().back()));
  Json numbers = Json::array();
  for (const float number : row.first(8)) numbers.push_back(double{number});
  return numbers;
}

// In the order of NUMBERS in bench/compare/corpus.py.
Json numbers_of_all_heads(const CorpusStatistics& statistics) {
  constexpr double HeadNumbers::*kNumbers[] = {&HeadNumbers::distance,   &HeadNumbers::previous,
                                               &HeadNumbers::duplicate,  &HeadNumbers::induction,
                                               &HeadNumbers::delimiter,  &HeadNumbers::sink,
                                               &HeadNumbers::entropy,    &HeadNumbers::evenness,
                                               &HeadNumbers::confidence, &HeadNumbers::positional};
  Json all = Json::array();
  for (int64_t layer = 0; layer < statistics.layers(); ++layer) {
    for (int64_t head = 0; head < statistics.heads(); ++head) {
      const HeadNumbers numbers = numbers_of(statistics.sums(layer, head));
      for (const auto number : kNumbers) all.push_back(numbers.*number);
      all.push_back(numbers.offset);
    }
  }
  return all;
}

}  // namespace

Turn forward_turn(Words words) {
  const DType compute = words[2] == "bf16" ? DType::kI16 : DType::kF32;
  return [engine = Engine::open(words[0], {.compute = compute}), inputs = read_inputs(words[1])] {
    RunResult result;
    Json answer = timed(seconds_of([&] { result = engine.run(inputs); }));
    answer.set("answer", first_of_last_row(result.outputs.last_hidden_state.tensor));
    // A weight of the last map: it can be read.
    answer.set("cell", double{result.map(result.run.records.back()->site, 0).cell(0, 0)});
    answer.set("mb", memory_mb("VmHWM"));
    return answer;
  };
}

// Of the last position of a model that writes: why it would write token 0 next.
Turn relevancy_turn(Words words) {
  const Engine engine = Engine::open(words[0]);
  const EncodedInput input = engine.label(read_inputs(words[1]));
  // Axes and layers alone; relevancy makes its own records.
  const RunResult kept =
      engine.run(input, {.record = {.wanted = [](SiteId site) { return site.layer == 0; }},
                         .logits = LogitRows::kLast});
  return [engine, input, kept] {
    const Target target = TokenTarget{input.inputs.tokens() - 1, 0};
    EngineSubject subject(engine, input, LogitRows::kLast);
    const ExplainRequest request{.run = kept.run, .subject = &subject, .target = &target};
    Json answer = timed(seconds_of([&] { explain(method_named("relevancy"), request); }));
    answer.set("mb", memory_mb("VmHWM"));
    return answer;
  };
}

// A run of random tokens and the rollout of its last position. Memory is what comes on top of the
// model's weights.
Turn rollout_turn(Words words) {
  const Engine engine = Engine::open(words[0]);
  const int64_t tokens = std::stoll(words[1]);
  ModelInputs inputs;
  std::mt19937 random(1);
  std::uniform_int_distribution<int64_t> word(0, engine.facts().text->vocabulary - 1);
  for (int64_t i = 0; i < tokens; ++i) inputs.input_ids.push_back(word(random));
  RunOptions options;
  options.record.values = false;
  ModelInputs few;
  few.input_ids = {1, 2, 3};
  engine.run(few, options);  // now the weights are in memory
  const double model_mb = memory_mb("VmRSS");
  return [=] {
    LayerRecords layers;
    const double forward =
        seconds_of([&] { layers = layers_of(engine.run(inputs, options).run, SiteKind::kSelf); });
    Json answer = timed(forward);
    answer.set("kept_mb", memory_mb("VmRSS") - model_mb);
    std::vector<double> row;
    answer.set("rollout_seconds", seconds_of([&] { row = rollout(layers, tokens - 1, {}); }));
    answer.set("peak_mb", memory_mb("VmHWM") - model_mb);
    answer.set("rollout_sum", std::accumulate(row.begin(), row.end(), 0.0));
    return answer;
  };
}

Turn generate_turn(Words words) {
  const Engine engine = Engine::open(words[0]);
  return [engine, input = engine.label(read_inputs(words[1])), tokens = std::stoll(words[2])] {
    RunResult result;
    Json answer =
        timed(seconds_of([&] { result = engine.generate(input, {.most_tokens = tokens}); }));
    answer.set("tokens", result.generated.size());
    answer.set("answer", Json::array_of(result.generated));
    return answer;
  };
}

// Greedy search, sentence by sentence.
Turn translate_turn(Words words) {
  std::vector<std::string> sentences;
  std::ifstream file(words[1]);
  for (std::string line; std::getline(file, line);) sentences.push_back(line);
  return [translator = Translator(Engine::open(words[0])), sentences] {
    std::vector<int64_t> counts;
    Json answer = timed(seconds_of([&] {
      for (const std::string& sentence : sentences) {
        // What was read is the start and all that was written but the end.
        const Translation found = translator.translate(sentence, {.beams = 1});
        counts.push_back(std::ssize(found.result.inputs.decoder_input_ids));
      }
    }));
    answer.set("tokens", std::accumulate(counts.begin(), counts.end(), int64_t{0}));
    answer.set("answer", Json::array_of(counts));
    return answer;
  };
}

// What `fovea stats` does once the model is there, from the texts to the numbers.
Turn stats_turn(Words words) {
  return [engine = Engine::open(words[0]), corpus = Corpus::of_texts(words[1])] {
    Json numbers;
    Json answer = timed(seconds_of([&] {
      const ManyState state = ask_all(engine, inputs_of(corpus), {.kind = "stats"});
      numbers = numbers_of_all_heads(state.sums.total());
    }));
    answer.set("answer", std::move(numbers));
    return answer;
  };
}

}  // namespace fovea
