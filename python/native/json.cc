#include <nanobind/stl/string.h>

#include <cmath>
#include <string>

#include "fovea/base/error.h"
#include "python/native/base.h"

namespace fovea::python {
namespace {

constexpr int kDeepest = 64;

nb::str text_of(const std::string& text) {
  return nb::str(text.data(), text.size());
}

std::string string_of(nb::handle text) {
  Py_ssize_t size = 0;
  const char* bytes = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
  if (bytes == nullptr) throw nb::python_error();  // a lone surrogate: a ValueError already
  return {bytes, static_cast<size_t>(size)};
}

Json whole_number_of(nb::handle value) {
  const nb::object number = nb::steal(PyNumber_Index(value.ptr()));
  if (!number.is_valid()) throw nb::python_error();
  int overflow = 0;
  const long long whole = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  if (overflow != 0) {
    fail(ErrorKind::kInvalidArgument, "{} is too large a number",
         nb::cast<std::string>(nb::repr(number)).substr(0, 40));
  }
  return Json(int64_t{whole});
}

std::string type_of(nb::handle value) {
  return nb::cast<std::string>(nb::handle(value.type()).attr("__name__"));
}

Json json_within(nb::handle value, int depth) {
  if (depth > kDeepest) fail(ErrorKind::kInvalidArgument, "the value is nested too deeply");
  if (value.is_none()) return {};
  if (PyBool_Check(value.ptr())) return Json(value.ptr() == Py_True);
  if (PyUnicode_Check(value.ptr())) return Json(string_of(value));
  if (PyDict_Check(value.ptr())) {
    Json object = Json::object();
    for (const auto& [key, member] : nb::borrow<nb::dict>(value)) {
      if (!PyUnicode_Check(key.ptr())) {
        fail(ErrorKind::kInvalidArgument, "a name is of the type {} but must be a str",
             type_of(key));
      }
      object.set(string_of(key), json_within(member, depth + 1));
    }
    return object;
  }
  if (PyList_Check(value.ptr()) || PyTuple_Check(value.ptr())) {
    Json array = Json::array();
    for (const nb::handle item : nb::borrow<nb::sequence>(value)) {
      array.push_back(json_within(item, depth + 1));
    }
    return array;
  }
  if (PyIndex_Check(value.ptr())) return whole_number_of(value);
  if (PyFloat_Check(value.ptr())) {
    const double number = PyFloat_AsDouble(value.ptr());
    if (!std::isfinite(number)) {
      fail(ErrorKind::kInvalidArgument, "{} is no number that can be asked with", number);
    }
    return Json(number);
  }
  fail(ErrorKind::kInvalidArgument,
       "a value is of the type {}; give text, numbers, True or False, or lists of them",
       type_of(value));
}

}  // namespace

nb::any to_python(const Json& json) {
  if (json.is_null()) return untyped(nb::none());
  if (json.is_bool()) return untyped(nb::bool_(json.as_bool("")));
  if (json.is_int()) return untyped(nb::int_(json.as_int("")));
  if (json.is_number()) {
    const double number = json.as_double("");
    // As JSON has it, where what is no number is null.
    return std::isfinite(number) ? untyped(nb::float_(number)) : untyped(nb::none());
  }
  if (json.is_string()) return untyped(text_of(json.as_string("")));
  if (json.is_array()) {
    nb::list list;
    for (const Json& item : json.as_array("")) list.append(to_python(item));
    return untyped(list);
  }
  nb::dict members;
  for (const auto& [name, member] : json.as_object("")) members[text_of(name)] = to_python(member);
  return untyped(members);
}

Json json_of(nb::handle value) {
  return json_within(value, 0);
}

}  // namespace fovea::python
