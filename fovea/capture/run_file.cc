#include "fovea/capture/run_file.h"

#include <limits>

#include "fovea/base/json.h"
#include "fovea/capture/rule_file.h"

namespace fovea {
namespace {

constexpr std::string_view kMetadataKey = "fovea";
constexpr std::string_view kPictureName = "picture";

// The optional tensors of a record and what they are called in the file.
struct NamedPart {
  const char* name;
  Tensor BlockContext::*part;
};
constexpr NamedPart kBlockParts[] = {{"input", &BlockContext::input},
                                     {"output_weight", &BlockContext::output_weight},
                                     {"output_bias", &BlockContext::output_bias},
                                     {"query_bias", &BlockContext::query_bias},
                                     {"key_bias", &BlockContext::key_bias},
                                     {"value_bias", &BlockContext::value_bias},
                                     {"norm_weight", &BlockContext::norm_weight},
                                     {"norm_bias", &BlockContext::norm_bias}};

Json axis_to_json(const Axis& axis) {
  Json texts = Json::array();
  Json spans = Json::array();
  Json special = Json::array();
  Json words = Json::array();
  bool has_words = false;
  for (size_t i = 0; i < axis.positions.size(); ++i) {
    const Position& position = axis.positions[i];
    texts.push_back(position.text);
    spans.push_back(Json(Json::Array{position.source_begin, position.source_end}));
    if (position.special) special.push_back(i);
    words.push_back(position.word);
    has_words = has_words || position.word >= 0;
  }
  Json json = Json::object({{"name", axis.name}, {"source", axis.source}});
  json.set("positions", std::move(texts));
  json.set("offsets", std::move(spans));
  json.set("special", std::move(special));
  if (has_words) json.set("words", std::move(words));
  if (axis.grid_rows > 0) json.set("grid", Json(Json::Array{axis.grid_rows, axis.grid_cols}));
  return json;
}

// Files from before there were words have none.
void read_words(const Json& json, const std::string& where, Axis& axis) {
  const Json* words = json.find("words");
  if (words == nullptr) return;
  const auto& numbers = words->as_array(where + ".words");
  if (numbers.size() != axis.positions.size()) {
    fail(ErrorKind::kBadFile, "{} has {} positions but {} words", where, axis.positions.size(),
         numbers.size());
  }
  for (size_t i = 0; i < numbers.size(); ++i) {
    axis.positions[i].word = numbers[i].as_int(where + ".words");
    if (axis.positions[i].word < -1) {
      fail(ErrorKind::kBadFile, "{}.words[{}] is {} but must be -1 or more", where, i,
           axis.positions[i].word);
    }
  }
}

Axis axis_from_json(const Json& json, const std::string& where) {
  Axis axis;
  axis.name = json.at("name", where).as_string(where + ".name");
  axis.source = json.at("source", where).as_string(where + ".source");
  const auto& texts = json.at("positions", where).as_array(where + ".positions");
  const auto& spans = json.at("offsets", where).as_array(where + ".offsets");
  if (texts.size() != spans.size()) {
    fail(ErrorKind::kBadFile, "{} has {} positions but {} offsets", where, texts.size(),
         spans.size());
  }
  for (size_t i = 0; i < texts.size(); ++i) {
    const auto& span = spans[i].as_array(where + ".offsets");
    if (span.size() != 2) {
      fail(ErrorKind::kBadFile, "{}.offsets[{}] has {} numbers but needs 2", where, i, span.size());
    }
    axis.positions.push_back({.text = texts[i].as_string(where + ".positions"),
                              .source_begin = span[0].as_int(where + ".offsets"),
                              .source_end = span[1].as_int(where + ".offsets")});
  }
  for (const Json& entry : json.at("special", where).as_array(where + ".special")) {
    const int64_t index = entry.as_int(where + ".special");
    if (index < 0 || index >= static_cast<int64_t>(axis.positions.size())) {
      fail(ErrorKind::kBadFile, "{}.special names position {} of {}", where, index,
           axis.positions.size());
    }
    axis.positions[static_cast<size_t>(index)].special = true;
  }
  read_words(json, where, axis);
  if (const Json* grid = json.find("grid")) {
    const auto& sizes = grid->as_array(where + ".grid");
    if (sizes.size() != 2) {
      fail(ErrorKind::kBadFile, "{}.grid has {} numbers but needs 2", where, sizes.size());
    }
    axis.grid_rows = sizes[0].as_int(where + ".grid");
    axis.grid_cols = sizes[1].as_int(where + ".grid");
  }
  return axis;
}

Json record_to_json(const AttentionRecord& record, std::vector<NamedTensor>& tensors) {
  const std::string site = to_string(record.site);
  const auto keep = [&](const char* part, const Tensor& tensor) {
    if (!tensor.empty()) tensors.push_back({site + "." + part, tensor});
  };
  keep("q", record.queries);
  keep("k", record.keys);
  keep("v", record.values);
  keep("lse", record.lse);
  keep("weights", record.weights);
  keep("output_gradient", record.output_gradient);
  Json json = Json::object({{"site", site},
                            {"rows", record.row_axis},
                            {"cols", record.col_axis},
                            {"rule", rule_to_json(record.rule, site, tensors)}});
  if (record.block) {
    for (const auto& [name, part] : kBlockParts) keep(name, (*record.block).*part);
    json.set("norm_epsilon", double{record.block->norm_epsilon});
    if (record.block->norm_before_residual) json.set("norm_before_residual", true);
  }
  if (record.positions) {
    keep("position_q", record.positions->queries);
    keep("position_k", record.positions->keys);
  }
  return json;
}

AttentionRecord record_from_json(const Json& json, const SafetensorsFile& file,
                                 const std::string& where) {
  AttentionRecord record;
  const std::string& site = json.at("site", where).as_string(where + ".site");
  record.site = parse_site(site);
  record.row_axis = json.at("rows", where).as_string(where + ".rows");
  record.col_axis = json.at("cols", where).as_string(where + ".cols");
  const auto optional = [&](const std::string& part) {
    const auto* entry = file.find(site + "." + part);
    return entry == nullptr ? Tensor() : file.tensor(*entry);
  };
  record.weights = optional("weights");
  if (record.has_queries()) {
    record.queries = file.tensor(site + ".q");
    record.keys = file.tensor(site + ".k");
    record.values = optional("v");
    record.lse = file.tensor(site + ".lse");
  }
  record.output_gradient = optional("output_gradient");
  record.rule = rule_from_json(json.at("rule", where), file, site, where + ".rule");
  if (file.find(site + ".output_weight") != nullptr) {
    BlockContext block;
    for (const auto& [name, part] : kBlockParts) block.*part = optional(name);
    block.norm_epsilon =
        static_cast<float>(json.at("norm_epsilon", where).as_double(where + ".norm_epsilon"));
    if (const Json* before = json.find("norm_before_residual")) {
      block.norm_before_residual = before->as_bool(where + ".norm_before_residual");
    }
    record.block = std::move(block);
  }
  if (file.find(site + ".position_q") != nullptr || file.find(site + ".position_k") != nullptr) {
    record.positions = PositionParts{optional("position_q"), optional("position_k")};
  }
  return record;
}

// "experts.3.chosen" and "experts.3.shares".
Json experts_to_json(const ExpertChoice& choice, std::vector<NamedTensor>& tensors) {
  const std::string name = fmt::format("experts.{}", choice.layer);
  tensors.push_back({name + ".chosen", choice.chosen});
  tensors.push_back({name + ".shares", choice.shares});
  return Json::object({{"layer", choice.layer}, {"experts", choice.experts}});
}

ExpertChoice experts_from_json(const Json& json, const SafetensorsFile& file,
                               const std::string& where) {
  ExpertChoice choice;
  const int64_t layer = json.at("layer", where).as_int(where + ".layer");
  if (layer < 0 || layer > std::numeric_limits<int>::max()) {
    fail(ErrorKind::kBadFile, "{}.layer is {}, which no layer is", where, layer);
  }
  choice.layer = static_cast<int>(layer);
  choice.experts = json.at("experts", where).as_int(where + ".experts");
  choice.chosen = file.tensor(fmt::format("experts.{}.chosen", layer));
  choice.shares = file.tensor(fmt::format("experts.{}.shares", layer));
  return choice;
}

}  // namespace

void save_run(const Run& run, const std::filesystem::path& path) {
  validate(run);
  std::vector<NamedTensor> tensors;
  Json axes = Json::array();
  for (const Axis& axis : run.axes) axes.push_back(axis_to_json(axis));
  Json sites = Json::array();
  for (const auto& record : run.records) sites.push_back(record_to_json(*record, tensors));
  Json experts = Json::array();
  for (const ExpertChoice& choice : run.experts) {
    experts.push_back(experts_to_json(choice, tensors));
  }
  if (!run.picture.empty()) tensors.push_back({std::string(kPictureName), run.picture});
  Json json = Json::object({{"format_version", kRunFormatVersion},
                            {"model", run.model},
                            {"model_hash", run.model_hash}});
  if (!run.model_note.empty()) json.set("model_note", run.model_note);
  json.set("axes", std::move(axes));
  json.set("sites", std::move(sites));
  if (!run.experts.empty()) json.set("experts", std::move(experts));
  write_safetensors(path, tensors, {{std::string(kMetadataKey), json.dump()}});
}

bool holds_run(const SafetensorsFile& file) {
  return file.find_metadata(kMetadataKey) != nullptr;
}

Run load_run(const std::filesystem::path& path) {
  return load_run(SafetensorsFile::open(path), path.string());
}

Run load_run(const SafetensorsFile& file, std::string_view source) {
  const std::string where(source);
  const std::string* text = file.find_metadata(kMetadataKey);
  if (text == nullptr) {
    fail(ErrorKind::kBadFile,
         "{}: is a safetensors file but no captured run (no '{}' metadata); capture one", where,
         kMetadataKey);
  }
  const Json json = Json::parse(*text, where);
  const int64_t version = json.at("format_version", where).as_int(where + ": format_version");
  if (version > kRunFormatVersion) {
    fail(ErrorKind::kUnsupported,
         "{}: has run format {} but this fovea reads up to {}; use a newer fovea", where, version,
         kRunFormatVersion);
  }
  if (version < 1)
    fail(ErrorKind::kBadFile, "{}: has run format {}, which never was", where, version);
  try {
    Run run;
    run.model = json.at("model", where).as_string(where + ": model");
    run.model_hash = json.at("model_hash", where).as_string(where + ": model_hash");
    if (const Json* note = json.find("model_note")) {
      run.model_note = note->as_string(where + ": model_note");
    }
    for (const Json& axis : json.at("axes", where).as_array(where + ": axes")) {
      run.axes.push_back(axis_from_json(axis, where + ": axes"));
    }
    for (const Json& site : json.at("sites", where).as_array(where + ": sites")) {
      run.records.push_back(
          std::make_shared<const AttentionRecord>(record_from_json(site, file, where + ": sites")));
    }
    if (const Json* experts = json.find("experts")) {  // files from before there were any have none
      for (const Json& layer : experts->as_array(where + ": experts")) {
        run.experts.push_back(experts_from_json(layer, file, where + ": experts"));
      }
    }
    if (const auto* picture = file.find(kPictureName)) run.picture = file.tensor(*picture);
    validate(run);
    return run;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kOutOfMemory || error.kind() == ErrorKind::kCancelled) throw;
    // Whatever does not fit together here is the file's fault, and the message names the file.
    const std::string message = error.what();
    if (message.starts_with(where)) throw Error(ErrorKind::kBadFile, message);
    fail(ErrorKind::kBadFile, "{}: {}", where, message);
  }
}

}  // namespace fovea
