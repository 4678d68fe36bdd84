#include "fovea/explain/max_flow.h"

#include <gtest/gtest.h>

#include <functional>
#include <numeric>

#include "fovea/atlas/attention_map.h"
#include "fovea/base/file.h"
#include "fovea/base/json.h"
#include "fovea/explain/method.h"
#include "support/data.h"
#include "support/errors.h"
#include "support/runs.h"

namespace fovea {
namespace {

Json::Array flow_answers() {
  const std::string path = test_data("explain/flow.json");
  return Json::parse(read_text_file(path), path).as_array(path);
}

TEST(FlowNetwork, IsExactlyWhatScipyAnswers) {
  for (const Json& answer : flow_answers()) {
    SCOPED_TRACE(answer.at("name", "flow.json").as_string("flow.json"));
    const Json::Array& layers = answer.at("capacities", "flow.json").as_array("flow.json");
    const Json::Array& flows = answer.at("flows", "flow.json").as_array("flow.json");
    const auto positions = static_cast<int64_t>(flows.size());
    FlowNetwork network((static_cast<int64_t>(layers.size()) + 1) * positions);
    for (size_t l = 0; l < layers.size(); ++l) {
      const int64_t below = static_cast<int64_t>(l) * positions;
      for (int64_t i = 0; i < positions; ++i) {
        const Json::Array& row =
            layers[l].as_array("flow.json")[static_cast<size_t>(i)].as_array("flow.json");
        for (int64_t j = 0; j < positions; ++j) {
          network.add_edge(below + positions + i, below + j,
                           row[static_cast<size_t>(j)].as_int("flow.json"));
        }
      }
    }
    const int64_t top = static_cast<int64_t>(layers.size()) * positions;
    for (int64_t i = 0; i < positions; ++i) {
      const Json::Array& row = flows[static_cast<size_t>(i)].as_array("flow.json");
      for (int64_t j = 0; j < positions; ++j) {
        EXPECT_EQ(network.max_flow(top + i, j), row[static_cast<size_t>(j)].as_int("flow.json"))
            << i << " to " << j;
      }
    }
  }
}

TEST(FlowNetwork, GoesBackWhereTheFirstWayWasWrong) {
  // The short way 0-1-2-3 blocks both long ones, unless some of it is taken back.
  FlowNetwork network(4);
  network.add_edge(0, 1, 1);
  network.add_edge(0, 2, 1);
  network.add_edge(1, 2, 1);
  network.add_edge(1, 3, 1);
  network.add_edge(2, 3, 1);
  EXPECT_EQ(network.max_flow(0, 3), 2);
  EXPECT_EQ(network.max_flow(3, 0), 0);
  EXPECT_EQ(network.max_flow(2, 2), 0);
}

TEST(FlowNetwork, TakesParallelPipesAndNone) {
  FlowNetwork network(3);
  network.add_edge(0, 1, 5);
  network.add_edge(0, 1, 7);
  network.add_edge(1, 2, 0);
  EXPECT_EQ(network.max_flow(0, 1), 12);
  EXPECT_EQ(network.max_flow(0, 2), 0);
}

// From its definition, one path at a time, on weights in double.
double slow_flow(std::vector<std::vector<double>> left, size_t source, size_t sink) {
  double flow = 0;
  for (;;) {
    std::vector<size_t> before(left.size(), left.size()), queue{source};
    before[source] = source;
    for (size_t head = 0; head < queue.size() && before[sink] == left.size(); ++head) {
      for (size_t to = 0; to < left.size(); ++to) {
        if (left[queue[head]][to] < 1e-12 || before[to] != left.size()) continue;
        before[to] = queue[head];
        queue.push_back(to);
      }
    }
    if (before[sink] == left.size()) return flow;
    double least = 1;
    for (size_t at = sink; at != source; at = before[at]) {
      least = std::min(least, left[before[at]][at]);
    }
    for (size_t at = sink; at != source; at = before[at]) {
      left[before[at]][at] -= least;
      left[at][before[at]] += least;
    }
    flow += least;
  }
}

std::vector<double> slow_flows(const Run& run, size_t target) {
  const size_t positions = run.axes[0].positions.size(), layers = run.records.size();
  std::vector<std::vector<double>> pipes((layers + 1) * positions,
                                         std::vector<double>((layers + 1) * positions));
  for (size_t l = 0; l < layers; ++l) {
    const auto& record = run.records[l];
    for (int64_t head = 0; head < record->shape().heads; ++head) {
      for (size_t i = 0; i < positions; ++i) {
        const auto row = AttentionMap(record, head).row(static_cast<int64_t>(i));
        for (size_t j = 0; j < positions; ++j) {
          pipes[(l + 1) * positions + i][l * positions + j] +=
              0.5 * double{row[j]} / static_cast<double>(record->shape().heads) +
              (i == j && head == 0 ? 0.5 : 0);
        }
      }
    }
  }
  std::vector<double> flows;
  for (size_t j = 0; j < positions; ++j) {
    flows.push_back(slow_flow(pipes, layers * positions + target, j));
  }
  return flows;
}

TEST(Flow, IsTheShareOfTheLargestFlowsFromTheDefinition) {
  for (const bool causal : {false, true}) {
    const fovea::Run run =
        support::text_run({"[CLS]", "the", "cat", "sat", "on", "it"}, 2, causal, 3);
    const int64_t position = causal ? 4 : 1;
    const Explanation found =
        explain(method_named("flow"), {.run = run, .position = position, .parameters = {}});
    const std::vector<double> flows = slow_flows(run, static_cast<size_t>(position));
    const double sum = std::accumulate(flows.begin(), flows.end(), 0.0);
    for (size_t j = 0; j < flows.size(); ++j) {
      // Whole units of 1e-7, and weights below 1e-4 left out: a few of those in a cut.
      EXPECT_NEAR(found.scores[j], flows[j] / sum, 1e-3) << j;
    }
    EXPECT_NEAR(std::accumulate(found.scores.begin(), found.scores.end(), 0.0), 1, 1e-12);
    EXPECT_EQ(found.row, position);
    if (causal) {
      EXPECT_EQ(found.scores[5], 0);
    }
    ASSERT_EQ(found.notes.size(), 1U);
    EXPECT_NE(found.notes[0].find(fmt::format("{:.1f}", sum)), std::string::npos) << found.notes[0];
    EXPECT_NE(found.notes[0].find("saturate"), std::string::npos);
  }
}

TEST(Flow, RefusesMoreThan128PositionsAndNamesAnotherWay) {
  const auto run_of = [](size_t count) {
    return support::text_run(std::vector<std::string>(count, "word"), 1);
  };
  const fovea::Run many = run_of(129), enough = run_of(128);
  const Method flow = method_named("flow");
  EXPECT_TRUE(fails_with(ErrorKind::kUnsupported, "128 positions but there are 129; use rollout",
                         [&] { explain(flow, {.run = many, .parameters = {}}); }));
  EXPECT_EQ(explain(flow, {.run = enough, .parameters = {}}).scores.size(), 128U);
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "0 to 127", [&] {
    explain(flow, {.run = enough, .position = 128, .parameters = {}});
  }));
}

}  // namespace
}  // namespace fovea
