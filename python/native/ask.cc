// Sessions, their questions and answers.
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <map>

#include "fovea/ask/numbers_file.h"
#include "fovea/ask/question_kind.h"
#include "fovea/ask/schema.h"
#include "fovea/base/error.h"
#include "fovea/capture/run_file.h"
#include "python/native/modules.h"
#include "python/native/tensor.h"

namespace fovea::python {
namespace {

using Names = std::vector<std::string>;

Names texts_of(const Axis& axis) {
  Names texts;
  for (const Position& position : axis.positions) texts.push_back(position.text);
  return texts;
}

std::shared_ptr<const FinishedRun> run_of(const Session& session, const RunNeeds& needs = {}) {
  return watched([&] { return session.run(needs); });
}

// Of the text that is read; of a picture its patches.
Names tokens_of(const Session& session) {
  if (const OpenedInput* opened = session.opened(); opened != nullptr && !opened->input.generate) {
    const EncodedInput& encoded = opened->encoded;
    return texts_of(encoded.axis.positions.empty() ? encoded.patches : encoded.axis);
  }
  const auto run = run_of(session);
  return run->run().axes.empty() ? Names() : texts_of(run->run().axes.front());
}

std::vector<std::pair<std::string, Names>> axes_of(const Session& session) {
  std::vector<std::pair<std::string, Names>> axes;
  for (const Axis& axis : run_of(session)->run().axes) axes.emplace_back(axis.name, texts_of(axis));
  return axes;
}

struct SiteShape {
  std::string name;
  int64_t layers = 0;
  int64_t heads = 0;
  int64_t rows = 0;
  int64_t columns = 0;
};

// Of each kind of attention, in the run's order; rows and columns are those of its first layer.
std::vector<SiteShape> sites_of(const Session& session) {
  std::vector<SiteShape> sites;
  for (const auto& record : run_of(session)->run().records) {
    const std::string name(to_string(record->site.kind));
    const auto known = std::ranges::find(sites, name, &SiteShape::name);
    if (known != sites.end()) {
      ++known->layers;
      continue;
    }
    const AttentionShape shape = record->shape();
    sites.push_back({name, 1, shape.heads, shape.rows, shape.cols});
  }
  return sites;
}

std::shared_ptr<const AttentionRecord> record_of(const Session& session, const std::string& site,
                                                 int64_t layer) {
  const SiteKind kind = parse_site_kind(site);
  std::vector<std::shared_ptr<const AttentionRecord>> layers;
  for (const auto& record : run_of(session)->run().records) {
    if (record->site.kind == kind) layers.push_back(record);
  }
  if (layers.empty()) {
    fail(ErrorKind::kInvalidArgument, Field{"site"}, "this run has no {}; `sites` says what it has",
         name_of(kind));
  }
  for (const auto& record : layers) {
    if (record->site.layer == layer) return record;
  }
  fail(ErrorKind::kInvalidArgument, Field{"layer"}, "{} is no layer of {}, which has {} to {}",
       layer, to_string(kind), layers.front()->site.layer, layers.back()->site.layer);
}

HeadMap map_of(const Session& session, const std::string& site, int64_t layer, int64_t head) {
  auto record = record_of(session, site, layer);
  AttentionMap map(record, head);
  return {std::move(record), std::move(map)};
}

// None where it was not captured.
nb::any part_of(const Session& session, const std::string& site, int64_t layer,
                const std::string& part) {
  const auto record = record_of(session, site, layer);
  const Tensor& tensor = part == "q"   ? record->queries
                         : part == "k" ? record->keys
                         : part == "v" ? record->values
                                       : record->lse;
  return tensor.empty() ? untyped(nb::none()) : view_of(tensor);
}

// What the model gave, by the names of transformers. Logits of all positions may be large, and ask
// for another run where they were not kept.
ArraysByName outputs_of(const Session& session, bool with_logits) {
  const bool runs = session.opened() != nullptr;
  const auto run = run_of(session, {.all_logits = runs && with_logits});
  const ModelOutputs& outputs = run->result().outputs;
  ArraysByName arrays;
  const auto add = [&](const char* name, const Value& value) {
    if (!value.tensor.empty()) arrays[name] = view_of(value.tensor);
  };
  add("last_hidden_state", outputs.last_hidden_state);
  add("logits", outputs.logits);
  add("encoder_last_hidden_state", outputs.encoder_last_hidden_state);
  add("pooler_output", outputs.pooler_output);
  add("text_last_hidden_state", outputs.text_last_hidden_state);
  add("image_embeds", outputs.image_embeds);
  add("text_embeds", outputs.text_embeds);
  add("pred_boxes", outputs.pred_boxes);
  add("pred_masks", outputs.pred_masks);
  return arrays;
}

// None: the model writes nothing, or the run was captured.
std::optional<std::string> written_by(const Session& session) {
  if (!session.opened()) return {};
  const auto run = run_of(session);
  if (run->is_translation()) return run->translation.target;
  if (!session.opened()->input.generate) return {};
  const std::vector<int64_t>& generated = run->result().generated;
  const std::vector<int32_t> ids(generated.begin(), generated.end());
  return session.opened()->engine.tokenizer().decode(ids);
}

// One value where a field takes a list: the list of it.
Json with_lists(Json question) {
  const Json* named = question.find("kind");
  if (named == nullptr || !named->is_string()) return question;
  for (const QuestionKind& kind : all_question_kinds()) {
    if (kind.name != named->as_string("")) continue;
    for (const FieldInfo& field : kind.fields) {
      const Json* value = field.several ? question.find(field.name) : nullptr;
      if (value == nullptr || value->is_null()) continue;
      const bool is_list = value->is_array();
      const bool is_pair = is_list && !value->as_array("").empty() &&
                           value->as_array("").front().is_number() &&
                           field.type == FieldType::kPixel;
      if (!is_list || is_pair) question.set(field.name, Json(Json::Array{*value}));
    }
  }
  return question;
}

Answered asked(const Session& session, nb::handle fields,
               const std::map<std::string, std::pair<std::string, nb::bytes>>& pictures) {
  const Json json = with_lists(json_of(fields));
  std::map<std::string, PictureBytes, std::less<>> files;
  for (const auto& [name, file] : pictures) {
    files[name] = {.bytes = {file.second.c_str(), file.second.size()}, .name = file.first};
  }
  return watched([&] {
    const RunSort sort = session.opened() ? session.opened()->sort() : session.run()->sort();
    Question question = parse_question(json, sort);
    question.pictures = files;
    Answer answer = session.ask(question);
    return Answered{session, std::move(question), std::move(answer)};
  });
}

Session captured(const std::string& path) {
  return watched([&] { return Session::of(load_run(path)); });
}

void bind_answer(nb::module_& module) {
  using namespace nb::literals;
  nb::class_<Answered>(module, "Answer", "What a question was answered with.")
      .def("facts",
           [](const Answered& self) {
             return to_python(watched([&] { return whole(self.answer); }));
           })
      .def_prop_ro("kind", [](const Answered& self) { return self.question.kind; })
      .def_prop_ro("notes", [](const Answered& self) { return self.answer.notes; })
      .def_prop_ro("title", [](const Answered& self) { return text_in(self.answer.figure).title; })
      .def_prop_ro("caption",
                   [](const Answered& self) { return text_in(self.answer.figure).caption; })
      .def("metadata",
           [](const Answered& self) { return to_python(text_in(self.answer.figure).metadata); })
      .def("numbers",
           [](const Answered& self) {
             return array_of<float>(watched([&] { return array_in(self.answer); }));
           })
      .def("labels",
           [](const Answered& self) {
             const MapData data = watched([&] { return numbers_of(self.answer); });
             return std::make_pair(texts_of(data.rows), texts_of(data.cols));
           })
      .def("arrays",
           [](const Answered& self) {
             ArraysByName arrays;
             if (!self.answer.arrays) return arrays;
             for (NamedTensor& each : watched([&] { return self.answer.arrays(); })) {
               arrays[each.name.c_str()] = any_array_of(std::move(each.tensor));
             }
             return arrays;
           })
      .def(
          "write",
          [](const Answered& self, const std::string& path) {
            watched([&] { write_numbers(path, self.answer); });
          },
          "path"_a);
  module.def(
      "is_numbers_file", [](const std::string& path) { return is_data_suffix(path); }, "path"_a);
}

void bind_session(nb::module_& module) {
  using namespace nb::literals;
  nb::class_<SiteShape>(module, "SiteShape", "How many maps there are of a kind of attention.")
      .def_ro("name", &SiteShape::name)
      .def_ro("layers", &SiteShape::layers)
      .def_ro("heads", &SiteShape::heads)
      .def_ro("rows", &SiteShape::rows)
      .def_ro("columns", &SiteShape::columns);
  nb::class_<Session>(module, "Session", "A model and an input, or a captured run.")
      .def("tokens", &tokens_of)
      .def("axes", &axes_of)
      .def("sites", &sites_of)
      .def("map", &map_of, "site"_a, "layer"_a, "head"_a)
      .def("part", &part_of, "site"_a, "layer"_a, "part"_a)
      .def("outputs", &outputs_of, "with_logits"_a)
      .def_prop_ro("model",
                   [](const Session& self) {
                     return self.opened() ? self.opened()->engine.name() : self.run()->run().model;
                   })
      .def("written", &written_by)
      .def("warnings", [](const Session& self) { return run_of(self)->result().warnings; })
      .def("ask", &asked, "fields"_a, "pictures"_a)
      .def(
          "save",
          [](const Session& self, const std::string& path) {
            watched([&] { save_run(self.run()->run(), path); });
          },
          "path"_a);
  module.def("open_run", &captured, "path"_a);
}

}  // namespace

void bind_ask(nb::module_& module) {
  bind_answer(module);
  bind_session(module);
  nb::class_<FieldInfo>(module, "Field", "A field of a question or of an input.")
      .def_ro("name", &FieldInfo::name)
      .def_ro("help", &FieldInfo::help)
      .def_ro("otherwise", &FieldInfo::otherwise);
  nb::class_<QuestionKind>(module, "QuestionKind", "A kind of question.")
      .def_ro("name", &QuestionKind::name)
      .def_ro("summary", &QuestionKind::summary)
      .def_ro("fields", &QuestionKind::fields)
      .def_prop_ro("over_many", [](const QuestionKind& self) { return self.counter != nullptr; });
  module.def("questions", [] { return all_question_kinds(); });
  module.def("input_fields",
             [] { return std::vector<FieldInfo>(input_fields().begin(), input_fields().end()); });
  module.def("question_schema", [] { return to_python(question_schema()); });
}

}  // namespace fovea::python
