// Figures as files and as bytes.
#include <nanobind/stl/string.h>

#include "fovea/ask/explanation_answer.h"
#include "fovea/base/error.h"
#include "fovea/render/explanation_page.h"
#include "fovea/render/figure_file.h"
#include "fovea/render/page.h"
#include "python/native/modules.h"

namespace fovea::python {
namespace {

FigureOptions drawn_with(const std::string& colors, int pixels, bool svg_text) {
  return {.pixels = pixels, .colors = colors, .svg_text = svg_text};
}

nb::bytes encoded(const Answered& answered, const std::string& suffix, const std::string& colors,
                  int pixels, bool svg_text) {
  const EncodedFigure figure = watched([&] {
    return encode_figure(figure_format("figure" + suffix), answered.answer.figure,
                         drawn_with(colors, pixels, svg_text));
  });
  return nb::bytes(figure.bytes.data(), figure.bytes.size());
}

void write(const Answered& answered, const std::string& path, const std::string& colors, int pixels,
           bool svg_text) {
  watched([&] {
    const FigureOptions options = drawn_with(colors, pixels, svg_text);
    if (!is_page_suffix(path)) return write_figure(path, answered.answer.figure, options);
    if (!answered.answer.scores.empty()) {
      return write_page(path, explanation_page(answered.answer), options);
    }
    if (!answered.session) {
      fail(ErrorKind::kUnsupported, "a page shows one run; {} is counted over many inputs",
           answered.question.kind);
    }
    PageOptions page = answered.session->page(answered.question);
    page.colors = colors;
    write_page(path, answered.session->run(answered.question)->run(), page);
  });
}

}  // namespace

void bind_render(nb::module_& module) {
  using namespace nb::literals;
  module.def("encode", &encoded, "answer"_a, "suffix"_a, "colors"_a, "pixels"_a, "svg_text"_a);
  module.def("write", &write, "answer"_a, "path"_a, "colors"_a, "pixels"_a, "svg_text"_a);
}

}  // namespace fovea::python
