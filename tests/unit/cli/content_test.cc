// What a verb shows, asked for after everything that it was made from is gone, and by another
// thread.
#include <gtest/gtest.h>

#include <future>

#include "fovea/cli/detect/run.h"
#include "fovea/cli/explain/check.h"
#include "fovea/cli/explain/view.h"
#include "fovea/cli/image/view.h"
#include "fovea/cli/parse.h"
#include "support/data.h"
#include "support/fixture_models.h"
#include "support/temp_folder.h"

namespace fovea {
namespace {

std::string bundled_model(std::string_view name) {
  return (test_data("../../models") / name).lexically_normal().string();
}

Args args_of(std::string_view verb, const std::vector<std::string>& arguments) {
  for (const Command& command : all_commands()) {
    if (command.name == verb) return parse_command(command, arguments).args;
  }
  throw std::runtime_error("no such verb");
}

// Everything that a content gives but its drawing.
std::string numbers_of(const Content& content) {
  std::string text = content.json().dump();
  if (content.data) text += map_json(content.data()).dump();
  if (content.labels) {
    const LabelMask labels = content.labels();
    text.append(labels.labels.begin(), labels.labels.end());
  }
  if (content.write_data) {
    const TempFolder folder;
    content.write_data(folder / "numbers.safetensors");
    text += read_text_file(folder / "numbers.safetensors");
  }
  return text;
}

std::string numbers_in_another_thread(const Content& content) {
  return std::async(std::launch::async, [&] { return numbers_of(content); }).get();
}

Args detect_args(const std::vector<std::string>& more) {
  const std::string model = bundled_model("scenes-detr");
  std::vector<std::string> arguments{model + "/demo/scene-1.png", "-m", model, "--size", "240x192"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return args_of("detect", arguments);
}

DetectView detect_view_named(std::string_view name) {
  for (DetectView& view : detect_views()) {
    if (view.name == name) return std::move(view);
  }
  throw std::runtime_error("no such view");
}

struct AskedView {
  std::string view;
  std::vector<std::string> options;
};

TEST(Content, OfADetectorOutlivesItsRun) {
  const std::vector<AskedView> all{{"objects", {}},
                                   {"objects", {"--threshold", "1"}},
                                   {"queries", {}},
                                   {"encoder", {"--at", "100,80"}},
                                   {"points", {"--column"}},
                                   {"between", {}},
                                   {"why", {"--at", "100,80", "--to", "200,120"}},
                                   {"masks", {"--in-box"}},
                                   {"matrix", {"--rows", "0:4", "--cols", "0:4"}}};
  for (const AskedView& asked : all) {
    SCOPED_TRACE(asked.view);
    const DetectView view = detect_view_named(asked.view);
    KeptDetectRun kept;
    const Content content = view.make(run_detector(detect_args(asked.options), view, kept));
    const std::string before = numbers_of(content);
    kept = {};
    EXPECT_EQ(numbers_in_another_thread(content), before);
  }
}

TEST(Content, OfAPictureOutlivesItsRun) {
  const std::string model = bundled_model("scenes-vit");
  Content content;
  std::string before;
  {
    const Args args = args_of("image", {model + "/demo/scene-1.png", "-m", model});
    const Engine engine = Engine::open(model);
    const PictureInput input = read_picture_input(engine, args["FILE"], PictureSize{96, 64});
    const RunResult result = run_picture(engine, input);
    const std::optional<Artifacts> artifacts;
    content = image_lost_view().make({args, engine, input, result, artifacts});
    before = numbers_of(content);
  }
  EXPECT_EQ(numbers_in_another_thread(content), before);
}

TEST(Content, OfAnExplanationOutlivesItsQuestion) {
  const std::string model = parity_folder("bert_sequence").string();
  Content content;
  std::string before;
  {
    const Args args = args_of("explain", {"--inputs", model + "/inputs.safetensors", "--method",
                                          "rollout", "--check", "--check-orders", "2"});
    const ExplainQuestion question =
        read_question(given_input(args), args, Engine::open(model), method_named("rollout"));
    const Explanation explanation = answer(question);
    const FaithfulnessCard card = Checker(args, kOrdersOfOne).card(question, explanation);
    content = explanation_content(question, explanation, &card);
    before = numbers_of(content);
  }
  EXPECT_EQ(numbers_in_another_thread(content), before);
}

TEST(KeptDetectRun, IsUsedForAnotherViewOfTheSamePictureOnly) {
  const DetectView objects = detect_view_named("objects"), why = detect_view_named("why");
  const std::vector<std::string> pair{"--at", "100,80", "--to", "200,120"};
  KeptDetectRun kept;
  const auto first = run_detector(detect_args({}), objects, kept).result.run.records.front();
  const DetectRun& again =
      run_detector(detect_args({"--threshold", "0.99"}), detect_view_named("queries"), kept);
  EXPECT_EQ(again.result.run.records.front(), first);
  EXPECT_EQ(again.threshold, 0.99);
  for (const DetectedObject& object : again.objects) EXPECT_GT(object.score, 0.99);
  EXPECT_NE(run_detector(detect_args(pair), why, kept).result.run.records.front(), first);
  KeptDetectRun other;
  EXPECT_NE(run_detector(detect_args({}), objects, other).result.run.records.front(), first);
}

}  // namespace
}  // namespace fovea
