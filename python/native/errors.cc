#include <string>

#include "fovea/base/error.h"
#include "python/native/base.h"

namespace fovea::python {
namespace {

// The table names classes of Python itself, and fovea's own as "fovea.Busy".
nb::object exception_named(std::string_view name) {
  constexpr std::string_view kOwn = "fovea.";
  const bool own = name.starts_with(kOwn);
  if (own) name.remove_prefix(kOwn.size());
  return nb::module_::import_(own ? "fovea._errors" : "builtins").attr(std::string(name).c_str());
}

void raise_for(const Error& error) {
  const std::string what = error.what();
  const std::string text = error.field().empty() ? what : error.field() + ": " + what;
  const nb::object type = exception_named(answer_to(error.kind()).python);
  const nb::object raised = type(nb::str(text.data(), text.size()));
  raised.attr("field") =
      error.field().empty() ? nb::object(nb::none()) : nb::object(nb::str(error.field().c_str()));
  PyErr_SetObject(type.ptr(), raised.ptr());
}

void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& error) {
    raise_for(error);
  }
}

}  // namespace

void register_errors() {
  nb::register_exception_translator(translate);
}

}  // namespace fovea::python
