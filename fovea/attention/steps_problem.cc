#include "fovea/attention/steps_problem.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/base/json.h"
#include "fovea/base/suggest.h"

namespace fovea {
namespace {

constexpr double kLargestNumber = 1e30;  // so that no product further on overflows
constexpr int64_t kMostProblemCells = int64_t{1} << 20;
constexpr int64_t kMostWork = int64_t{1} << 32;

// Which members go with which of the three ways to say what attends.
struct Member {
  std::string name;
  bool with_inputs;
  bool with_image;
  bool with_memory;
};

const std::vector<Member>& members() {
  static const std::vector<Member> all = {
      {"title", true, true, true},     {"inputs", true, false, false},
      {"image", false, true, false},   {"memory", false, false, true},
      {"source", true, false, false},  {"query", false, false, true},
      {"queries", false, false, true}, {"Wq", true, true, false},
      {"Wk", true, true, false},       {"Wv", true, true, false},
      {"Wo", true, true, false},       {"bq", true, true, false},
      {"bk", true, true, false},       {"bv", true, true, false},
      {"bo", true, true, false},       {"Wa_q", true, true, true},
      {"Wa_k", true, true, true},      {"v", true, true, true},
      {"heads", true, true, false},    {"mask", true, true, false},
      {"labels", true, true, true},    {"source_labels", true, false, true},
      {"scale", true, true, false}};
  return all;
}

// Reads members of one file and knows how to complain about them.
class Reader {
 public:
  Reader(const Json& root, std::string file) : root_(root), file_(std::move(file)) {}

  const Json* find(std::string_view name) const { return root_.find(name); }
  std::string where(std::string_view path) const { return fmt::format("{}: {}", file_, path); }

  double number(const Json& json, const std::string& path) const {
    const double value = json.as_double(where(path));
    if (!(std::abs(value) <= kLargestNumber)) {
      fail(ErrorKind::kBadFile, "{}: {} is {} but at most {} is taken; use smaller numbers", file_,
           path, value, kLargestNumber);
    }
    return value;
  }

  std::vector<double> vector(const Json& json, const std::string& path) const {
    const Json::Array& items = json.as_array(where(path));
    if (items.empty()) fail(ErrorKind::kBadFile, "{}: {} is empty; give numbers", file_, path);
    std::vector<double> values;
    for (size_t i = 0; i < items.size(); ++i) {
      values.push_back(number(items[i], fmt::format("{}[{}]", path, i)));
    }
    return values;
  }

  Matrix matrix(const Json& json, const std::string& path) const {
    const Json::Array& items = json.as_array(where(path));
    if (items.empty()) fail(ErrorKind::kBadFile, "{}: {} is empty; give vectors", file_, path);
    std::vector<std::vector<double>> rows;
    for (size_t r = 0; r < items.size(); ++r) {
      rows.push_back(vector(items[r], fmt::format("{}[{}]", path, r)));
      if (rows[r].size() != rows[0].size()) {
        fail(ErrorKind::kBadFile,
             "{}: {}[{}] has {} numbers but {}[0] has {}; give every row the same length", file_,
             path, r, rows[r].size(), path, rows[0].size());
      }
    }
    return Matrix::from_rows(rows);
  }

  int64_t count(const Json& json, const std::string& path) const {
    const int64_t value = json.as_int(where(path));
    if (value < 1 || value > kMostProblemCells) {
      fail(ErrorKind::kBadFile, "{}: {} is {} but must be from 1 to {}", file_, path, value,
           kMostProblemCells);
    }
    return value;
  }

  std::optional<Matrix> optional_matrix(const std::string& name) const {
    const Json* json = find(name);
    return json == nullptr ? std::optional<Matrix>() : matrix(*json, name);
  }

  std::vector<double> optional_vector(const std::string& name) const {
    const Json* json = find(name);
    return json == nullptr ? std::vector<double>() : vector(*json, name);
  }

  std::vector<std::string> labels(const std::string& name, std::string_view prefix,
                                  int64_t wanted) const {
    std::vector<std::string> result;
    const Json* json = find(name);
    if (json == nullptr) {
      for (int64_t i = 0; i < wanted; ++i) result.push_back(fmt::format("{}{}", prefix, i));
      return result;
    }
    const Json::Array& items = json->as_array(where(name));
    if (static_cast<int64_t>(items.size()) != wanted) {
      fail(ErrorKind::kBadFile, "{}: {} has {} entries but there are {} vectors to name", file_,
           name, items.size(), wanted);
    }
    for (size_t i = 0; i < items.size(); ++i) {
      result.push_back(items[i].as_string(where(fmt::format("{}[{}]", name, i))));
    }
    return result;
  }

  // Refuses members of `json` that are not in `known`.
  void check_members(const Json& json, const std::string& path,
                     const std::vector<std::string>& known) const {
    for (const auto& [key, value] : json.as_object(where(path))) {
      if (std::ranges::find(known, key) != known.end()) continue;
      fail(ErrorKind::kBadFile, "{}: {} has an unknown member '{}'{}; known are {}", file_, path,
           key, did_you_mean(key, known), fmt::join(known, ", "));
    }
  }

  const std::string& file() const { return file_; }

 private:
  const Json& root_;
  std::string file_;
};

// Which of inputs, image and memory the file has; it must be exactly one.
std::string problem_kind(const Reader& reader) {
  std::vector<std::string> found;
  for (const char* name : {"inputs", "image", "memory"}) {
    if (reader.find(name) != nullptr) found.emplace_back(name);
  }
  if (found.size() == 1) return found.front();
  if (found.empty()) {
    fail(ErrorKind::kBadFile, "{}: has neither inputs, image nor memory; give one of them",
         reader.file());
  }
  fail(ErrorKind::kBadFile, "{}: has {}; give only one of them", reader.file(),
       fmt::join(found, " and "));
}

void check_members_of_kind(const Reader& reader, const Json& root, const std::string& kind) {
  std::vector<std::string> known;
  for (const Member& member : members()) {
    const bool fits = kind == "inputs"  ? member.with_inputs
                      : kind == "image" ? member.with_image
                                        : member.with_memory;
    if (fits) {
      known.push_back(member.name);
    } else if (root.find(member.name) != nullptr) {
      fail(ErrorKind::kBadFile, "{}: {} does not go with {}; remove one of them", reader.file(),
           member.name, kind);
    }
  }
  reader.check_members(root, "the file", known);
}

Similarity read_similarity(const Reader& reader, const std::string& name) {
  if (name == "dot") return DotProduct{};
  if (name == "cosine") return Cosine{};
  if (name != "additive") return ScaledDotProduct{};
  for (const char* needed : {"Wa_q", "Wa_k", "v"}) {
    if (reader.find(needed) == nullptr) {
      fail(
          ErrorKind::kBadFile,
          "{}: has no {}, which the similarity 'additive' needs for v · tanh(q Wa_q + k Wa_k); add "
          "it",
          reader.file(), needed);
    }
  }
  return Additive{*reader.optional_matrix("Wa_q"), *reader.optional_matrix("Wa_k"),
                  reader.optional_vector("v")};
}

void read_image(const Reader& reader, StepsProblem& problem) {
  const Json& image = *reader.find("image");
  reader.check_members(image, "image", {"height", "width", "pixels"});
  for (const char* needed : {"height", "width", "pixels"}) {
    image.at(needed, reader.where("image"));
  }
  PixelGrid grid{.height = reader.count(*image.find("height"), "image.height"),
                 .width = reader.count(*image.find("width"), "image.width")};
  const Json& pixels = *image.find("pixels");
  const Json::Array& lines = pixels.as_array(reader.where("image.pixels"));
  const bool nested = !lines.empty() && lines[0].is_array() && !lines[0].as_array("").empty() &&
                      lines[0].as_array("")[0].is_array();
  // Either a list of all pixels, or one list of pixels per line of the picture.
  Json::Array all;
  for (size_t y = 0; nested && y < lines.size(); ++y) {
    const std::string path = fmt::format("image.pixels[{}]", y);
    const Json::Array& line = lines[y].as_array(reader.where(path));
    if (static_cast<int64_t>(line.size()) != grid.width) {
      fail(ErrorKind::kBadFile, "{}: {} has {} pixels but image.width is {}", reader.file(), path,
           line.size(), grid.width);
    }
    all.insert(all.end(), line.begin(), line.end());
  }
  if (nested && static_cast<int64_t>(lines.size()) != grid.height) {
    fail(ErrorKind::kBadFile, "{}: image.pixels has {} lines but image.height is {}", reader.file(),
         lines.size(), grid.height);
  }
  problem.attention.inputs = reader.matrix(nested ? Json(std::move(all)) : pixels, "image.pixels");
  if (problem.attention.inputs.rows() != grid.size()) {
    fail(ErrorKind::kBadFile, "{}: image.pixels has {} pixels but height {} x width {} needs {}",
         reader.file(), problem.attention.inputs.rows(), grid.height, grid.width, grid.size());
  }
  problem.grid = grid;
}

// Masks are written as 0 and 1 or as false and true; from here on they are numbers.
Json without_booleans(const Json& json) {
  if (json.is_bool()) return json.as_bool("") ? 1 : 0;
  if (!json.is_array()) return json;
  Json::Array items;
  for (const Json& item : json.as_array("")) items.push_back(without_booleans(item));
  return Json(std::move(items));
}

void read_mask(const Reader& reader, StepsProblem& problem) {
  const Json* mask = reader.find("mask");
  if (mask == nullptr) return;
  if (!mask->is_string()) {
    problem.attention.mask = reader.matrix(without_booleans(*mask), "mask");
    return;
  }
  if (mask->as_string("") != "causal") {
    fail(ErrorKind::kBadFile, "{}: mask is '{}' but must be \"causal\" or a matrix of 0 and 1",
         reader.file(), mask->as_string(""));
  }
  if (problem.attention.source) {
    fail(ErrorKind::kBadFile,
         "{}: mask is \"causal\", which compares places in one sequence, but source is another; "
         "give a matrix of 0 and 1",
         reader.file());
  }
  problem.causal = true;
}

void check_size(const Reader& reader, const AttentionProblem& attention) {
  const int64_t rows = attention.inputs.rows();
  const int64_t cols = attention.sources().rows();
  // Divided, not multiplied: the product of three large sizes would overflow.
  if (rows > kMostProblemCells / cols || rows * cols > kMostProblemCells / attention.heads) {
    fail(ErrorKind::kBadFile,
         "{}: {} x {} vectors x {} heads are more than the {} numbers that steps keeps per stage; "
         "use fewer vectors",
         reader.file(), rows, cols, attention.heads, kMostProblemCells);
  }
  const int64_t cells = rows * cols * attention.heads;
  const auto* additive = std::get_if<Additive>(&attention.similarity);
  const int64_t hidden = additive == nullptr ? 1 : static_cast<int64_t>(additive->vector.size());
  const int64_t width = std::max<int64_t>(attention.head_width(), 1);
  if (cells > kMostWork / width / std::max<int64_t>(hidden, 1)) {
    fail(ErrorKind::kBadFile,
         "{}: {} scores of width {} and {} hidden numbers are too much work; use fewer vectors",
         reader.file(), cells, width, hidden);
  }
}

void read_attention(const Reader& reader, const std::string& kind, StepsProblem& problem) {
  AttentionProblem& attention = problem.attention;
  if (kind == "image") {
    read_image(reader, problem);
  } else {
    attention.inputs = reader.matrix(*reader.find("inputs"), "inputs");
    attention.source = reader.optional_matrix("source");
  }
  for (const auto& [projection, letter] :
       {std::pair{&attention.query, "q"}, std::pair{&attention.key, "k"},
        std::pair{&attention.value, "v"}, std::pair{&attention.output, "o"}}) {
    projection->weight = reader.optional_matrix(std::string("W") + letter);
    projection->bias = reader.optional_vector(std::string("b") + letter);
    if (!projection->weight) problem.left_to_identity.push_back(std::string("W") + letter);
  }
  if (const Json* heads = reader.find("heads")) attention.heads = reader.count(*heads, "heads");
  if (const Json* scale = reader.find("scale")) attention.scale = reader.number(*scale, "scale");
  check_size(reader, attention);
  read_mask(reader, problem);
  if (problem.causal) attention.mask = causal_mask(attention.inputs.rows());
  problem.labels = reader.labels("labels", "x", attention.inputs.rows());
  if (problem.grid && reader.find("labels") == nullptr) {
    for (int64_t i = 0; i < problem.grid->size(); ++i) {
      const PixelPlace place = problem.grid->place_of(i);
      problem.labels[static_cast<size_t>(i)] = fmt::format("({},{})", place.column, place.row);
    }
  }
  if (attention.source) {
    problem.source_labels = reader.labels("source_labels", "s", attention.source->rows());
  } else if (reader.find("source_labels") != nullptr) {
    fail(ErrorKind::kBadFile, "{}: has source_labels but no source; add source or use labels",
         reader.file());
  } else {
    problem.source_labels = problem.labels;
  }
  validate(attention);
}

void read_memory(const Reader& reader, StepsProblem& problem) {
  const Json& memory = *reader.find("memory");
  reader.check_members(memory, "memory", {"keys", "values"});
  const std::string where = reader.where("memory");
  problem.memory = KeyValueMemory{reader.matrix(memory.at("keys", where), "memory.keys"),
                                  reader.matrix(memory.at("values", where), "memory.values")};
  const Json* one = reader.find("query");
  const Json* several = reader.find("queries");
  if ((one == nullptr) == (several == nullptr)) {
    fail(ErrorKind::kBadFile, "{}: has {} queries; give one of them", reader.file(),
         one == nullptr ? "neither query nor" : "both query and");
  }
  problem.queries = one != nullptr ? Matrix::from_rows({reader.vector(*one, "query")})
                                   : reader.matrix(*several, "queries");
  const int64_t slots = problem.memory->keys.rows();
  if (problem.memory->values.rows() != slots) {
    fail(ErrorKind::kBadFile, "{}: memory has {} keys but {} values; give one value for each key",
         reader.file(), slots, problem.memory->values.rows());
  }
  validate(problem.attention.similarity, problem.queries.cols(), problem.memory->keys.cols());
  if (problem.queries.rows() > kMostProblemCells / slots) {
    fail(ErrorKind::kBadFile, "{}: {} queries x {} keys are more than {} scores; use fewer",
         reader.file(), problem.queries.rows(), slots, kMostProblemCells);
  }
  problem.labels = reader.labels("labels", "q", problem.queries.rows());
  problem.source_labels = reader.labels("source_labels", "k", slots);
}

}  // namespace

const std::vector<std::string>& similarity_names() {
  static const std::vector<std::string> names = {"scaled", "dot", "cosine", "additive"};
  return names;
}

StepsProblem parse_steps(std::string_view text, std::string_view file,
                         const StepsSettings& settings) {
  const Json root = Json::parse(text, file);
  const Reader reader(root, std::string(file));
  if (!root.is_object()) {
    fail(ErrorKind::kBadFile, "{}: should be an object like {{\"inputs\": …}} but is {}", file,
         root.type_name());
  }
  const std::string kind = problem_kind(reader);
  check_members_of_kind(reader, root, kind);
  StepsProblem problem;
  problem.file = file;
  if (const Json* title = root.find("title")) {
    problem.title = title->as_string(reader.where("title"));
  }
  const char* usual = kind == "memory" ? "dot" : "scaled";
  problem.attention.similarity = read_similarity(reader, settings.similarity.value_or(usual));
  problem.attention.temperature = settings.temperature.value_or(1);
  try {
    if (kind == "memory") {
      read_memory(reader, problem);
    } else {
      read_attention(reader, kind, problem);
    }
  } catch (const Error& error) {
    // The library speaks of the member; what is wrong is the file.
    if (error.kind() != ErrorKind::kInvalidArgument) throw;
    fail(ErrorKind::kBadFile, "{}: {}", file, error.what());
  }
  return problem;
}

StepsResult compute_steps(const StepsProblem& problem) {
  StepsResult result;
  if (!problem.memory) {
    result.attention = attend_by_vectors(problem.attention);
    result.forms_differ_by =
        max_difference(result.attention, attend_by_matrices(problem.attention));
    return result;
  }
  const Similarity& similarity = problem.attention.similarity;
  for (int64_t i = 0; i < problem.queries.rows(); ++i) {
    const auto query = problem.queries.row(i);
    result.hard.push_back(read_hard(*problem.memory, query, similarity));
    result.soft.push_back(
        read_soft(*problem.memory, query, similarity, problem.attention.temperature));
  }
  return result;
}

}  // namespace fovea
