// Questions about a run, answered as facts, a figure or numbers.
#include <algorithm>
#include <array>
#include <filesystem>

#include "fovea/ask/explanation_answer.h"
#include "fovea/ask/numbers_file.h"
#include "fovea/ask/question_kind.h"
#include "fovea/base/error.h"
#include "fovea/render/explanation_page.h"
#include "fovea/render/figure_file.h"
#include "fovea/render/page.h"
#include "fovea/server/resource.h"
#include "fovea/server/server_state.h"
#include "fovea/server/temporary_folder.h"

namespace fovea {
namespace {

struct AnswerForm {
  std::string_view name;
  std::string_view type;
};
constexpr std::array kForms = {
    AnswerForm{"json", "application/json"},
    AnswerForm{"png", "image/png"},
    AnswerForm{"svg", "image/svg+xml"},
    AnswerForm{"pdf", "application/pdf"},
    AnswerForm{"html", "text/html; charset=utf-8"},
    AnswerForm{"npy", "application/x-npy"},
    AnswerForm{"npz", "application/x-npz"},
    AnswerForm{"csv", "text/csv; charset=utf-8"},
};

const AnswerForm& form_of(const Call& call) {
  if (const std::string name = call.query("as"); !name.empty()) {
    const auto found = std::ranges::find(kForms, name, &AnswerForm::name);
    if (found != kForms.end()) return *found;
    fail(ErrorKind::kInvalidArgument, Field{"as"},
         "'{}' is not one of json, png, svg, pdf, html, npy, npz, csv", name);
  }
  std::string_view accepted = call.request.header("accept");
  if (accepted.empty()) return kForms.front();
  // The first that is known, in the order of the header: nobody sends weights here.
  while (!accepted.empty()) {
    const std::string_view each = accepted.substr(0, accepted.find(','));
    accepted.remove_prefix(std::min(each.size() + 1, accepted.size()));
    const size_t begin = std::min(each.find_first_not_of(' '), each.size());
    const std::string_view type = each.substr(begin, each.find(';') - begin);
    if (type == "*/*" || type == "application/*") return kForms.front();
    for (const AnswerForm& form : kForms) {
      if (form.type.substr(0, form.type.find(';')) == type) return form;
    }
  }
  throw HttpProblem(406, "an answer is JSON, PNG, SVG, PDF, HTML, .npy, .npz or CSV");
}

using Pictures = std::map<std::string, PictureBytes, std::less<>>;

// Takes "pictures" out of the question: what a field compares with is an upload. The field holds
// its name, by which the answer calls it; left out, that of the upload.
Pictures take_pictures(const Call& call, Json& json) {
  Pictures pictures;
  const Json* given = json.is_object() ? json.find("pictures") : nullptr;
  if (given == nullptr || !given->is_object()) return pictures;
  Json rest = Json::object();
  for (const auto& [name, value] : json.as_object("the question")) {
    if (name != "pictures") rest.set(name, value);
  }
  for (const auto& [field, id] : given->as_object("pictures")) {
    const auto upload =
        call.state.uploads.upload(id.is_string() ? id.as_string("pictures") : std::string());
    if (!upload->picture) {
      fail(ErrorKind::kInvalidArgument, Field{"pictures"}, "{} is no picture", upload->name);
    }
    const Json* name = rest.find(field);
    if (name == nullptr || !name->is_string()) rest.set(field, upload->name);
    pictures[rest.at(field, "the question").as_string("the question")] = {.bytes = *upload->picture,
                                                                          .name = upload->name};
  }
  json = std::move(rest);
  return pictures;
}

Question question_of(const Call& call, const Session& session) {
  Json json;
  try {
    json = Json::parse(call.request.body.empty() ? "{}" : call.request.body, "the question");
  } catch (const Error& error) {
    throw HttpProblem(400, error.what());
  }
  Pictures pictures = take_pictures(call, json);
  const OpenedInput* opened = session.opened();
  Question question = parse_question(json, opened ? opened->sort() : session.run()->sort());
  question.pictures = std::move(pictures);
  return question;
}

// What writes files only is given a folder of its own for a moment.
template <typename Write>
std::string written(std::string_view suffix, const Write& write) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / ("answer." + std::string(suffix));
  write(file);
  return read_text_file(file);
}

FigureOptions figure_options(const Call& call) {
  return {
      .pixels = static_cast<int>(std::max<int64_t>(call.query_number("pixels", 2, kMostPixels), 1)),
      .colors = call.query("colors"),
      .svg_text = call.query_number("svg_text", 0, 1) == 1};
}

WebResponse figure_response(const Call& call, const AnswerForm& form, const Answer& answer) {
  const FigureFormat format = form.name == "png"   ? FigureFormat::kPng
                              : form.name == "svg" ? FigureFormat::kSvg
                                                   : FigureFormat::kPdf;
  return bytes_response(encode_figure(format, answer.figure, figure_options(call)).bytes,
                        form.type);
}

// An explanation has a page of its own; every other question opens one of the whole run.
WebResponse page_response(const Call& call, const AnswerForm& form, const Session& session,
                          const Question& question) {
  if (question.kind == "explain") {
    const ExplanationPage page = explanation_page(session.ask(question));
    return bytes_response(explanation_html(page, figure_options(call)), form.type);
  }
  PageOptions options = session.page(question);
  options.colors = call.query("colors");
  const auto run = session.run(question);
  return bytes_response(
      written("html", [&](const auto& file) { write_page(file, run->run(), options); }), form.type);
}

WebResponse answer_question(const Call& call) {
  call.check_query({"as", "pixels", "colors", "svg_text"});
  const auto run = call.state.runs.run(call.name("hash"));
  run->check_files();  // the question may need the model again
  const AnswerForm& form = form_of(call);
  Question question = question_of(call, run->session());
  if (form.name == "html") return page_response(call, form, run->session(), question);
  const bool numbers = form.name == "npy" || form.name == "npz" || form.name == "csv";
  // Files of numbers hold every cell.
  const QuestionKind& kind = question_kind_named(question.kind);
  if (numbers && find_field(kind.fields, "exact") != nullptr) question.fields.set("exact", true);
  const Answer answer = run->session().ask(question);
  if (form.name == "json") return json_response(whole(answer));
  if (!numbers) return figure_response(call, form, answer);
  return bytes_response(written(form.name, [&](const auto& file) { write_numbers(file, answer); }),
                        form.type);
}

}  // namespace

Resource ask_resource() {
  return {{{.method = "POST",
            .pattern = "/v1/runs/{hash}/ask",
            .summary = "answers a question about a run",
            .lane = Lane::kWork,
            .body = kMostJsonBytes,
            .answer = answer_question}}};
}

}  // namespace fovea
