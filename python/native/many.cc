// Questions about many inputs, which Python gives one by one.
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <memory>

#include "fovea/ask/ask_all.h"
#include "python/native/modules.h"

namespace fovea::python {
namespace {

LabelMask mask_of(nb::handle value) {
  const auto array =
      nb::cast<nb::ndarray<const uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>>(value);
  LabelMask mask({static_cast<int64_t>(array.shape(1)), static_cast<int64_t>(array.shape(0))});
  std::copy_n(array.data(), array.size(), mask.labels.begin());
  return mask;
}

TrueObject object_of(const nb::handle given) {
  const auto number = [&](const char* name) { return nb::cast<double>(given[name]); };
  return {.id = nb::cast<int64_t>(given["id"]),
          .label = nb::cast<std::string>(given["label"]),
          .box = {number("left"), number("top"), number("right"), number("bottom")}};
}

// A dict as fovea/_many.py makes it.
NamedInput input_of(nb::handle given) {
  auto sample = std::make_shared<Sample>();
  sample->input = parse_input(json_of(given["fields"]));
  if (const nb::object file = given["picture"]; !file.is_none()) {
    const auto bytes = nb::cast<nb::bytes>(file);
    sample->input.what = PictureBytes{.bytes = std::string(bytes.c_str(), bytes.size()),
                                      .name = nb::cast<std::string>(given["name"])};
  }
  if (const nb::object mask = given["mask"]; !mask.is_none()) {
    sample->truth.mask = mask_of(mask);
    sample->truth.mask_name = "the mask";
  }
  if (const nb::object objects = given["objects"]; !objects.is_none()) {
    sample->truth.objects.emplace();
    for (const nb::handle object : objects) sample->truth.objects->push_back(object_of(object));
  }
  return {nb::cast<std::string>(given["name"]), [sample] { return *sample; }};
}

// The next one, asked for by the thread that counts.
std::optional<NamedInput> next_of(const nb::object& inputs) {
  const nb::gil_scoped_acquire locked;
  const nb::object given = nb::steal(PyIter_Next(inputs.ptr()));
  if (given.is_valid()) return input_of(given);
  if (PyErr_Occurred() != nullptr) throw nb::python_error();
  return {};
}

Answered asked_of_many(const Engine& engine, const nb::object& inputs, int64_t count, bool pictures,
                       nb::handle fields) {
  const Question question = parse_question(json_of(fields));
  const ManyInputs many{
      .next = [&inputs] { return next_of(inputs); }, .count = count, .pictures = pictures};
  return watched([&] {
    const ManyState state = ask_all(engine, many, question);
    return Answered{{}, question, answer_of(state, engine, many, question)};
  });
}

}  // namespace

void bind_many(nb::module_& module) {
  using namespace nb::literals;
  module.def("ask_many", &asked_of_many, "model"_a, "inputs"_a, "count"_a, "pictures"_a,
             "fields"_a);
}

}  // namespace fovea::python
