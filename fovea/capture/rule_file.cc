#include "fovea/capture/rule_file.h"

#include <optional>

namespace fovea {
namespace {

template <typename T>
void write_array(const std::string& name, const std::vector<T>& values,
                 std::vector<NamedTensor>& tensors) {
  if (values.empty()) return;
  tensors.push_back({name, Tensor::from(Shape{static_cast<int64_t>(values.size())}, values)});
}

// Empty if the file has no such tensor.
template <typename T>
std::vector<T> read_array(const SafetensorsFile& file, const std::string& name) {
  const auto* entry = file.find(name);
  if (entry == nullptr) return {};
  if (entry->dtype != kDTypeOf<T> || entry->shape.rank() != 1) {
    fail(ErrorKind::kBadFile, "{} is {} {} but should be {} with one axis", name,
         dtype_name(entry->dtype), to_string(entry->shape), dtype_name(kDTypeOf<T>));
  }
  const Tensor tensor = file.tensor(*entry);
  return {tensor.values<T>().begin(), tensor.values<T>().end()};
}

Tensor read_table(const SafetensorsFile& file, const std::string& name) {
  const auto* entry = file.find(name);
  return entry == nullptr ? Tensor() : file.tensor(*entry);
}

std::string bias_to_tensors(const ScoreBias& bias, const std::string& prefix,
                            std::vector<NamedTensor>& tensors) {
  if (const auto* alibi = std::get_if<AlibiSlopes>(&bias)) {
    write_array(prefix + "slopes", alibi->slopes, tensors);
    return "alibi";
  }
  if (const auto* table = std::get_if<DistanceTable>(&bias)) {
    tensors.push_back({prefix + "values", table->values});
    write_array(prefix + "index", table->index, tensors);
    return "distance";
  }
  if (const auto* dense = std::get_if<DenseBias>(&bias)) {
    tensors.push_back({prefix + "values", dense->values});
    write_array(prefix + "row_index", dense->row_index, tensors);
    write_array(prefix + "col_index", dense->col_index, tensors);
    return "dense";
  }
  if (const auto* tables = std::get_if<PositionTables>(&bias)) {
    if (!tables->keys.empty()) tensors.push_back({prefix + "keys", tables->keys});
    if (!tables->queries.empty()) tensors.push_back({prefix + "queries", tables->queries});
    write_array(prefix + "index", tables->index, tensors);
    return "positions";
  }
  return "none";
}

ScoreBias bias_from_tensors(const std::string& kind, const SafetensorsFile& file,
                            const std::string& prefix, const std::string& where) {
  if (kind == "none") return {};
  if (kind == "alibi") return AlibiSlopes{read_array<float>(file, prefix + "slopes")};
  if (kind == "distance") {
    return DistanceTable{read_table(file, prefix + "values"),
                         read_array<int32_t>(file, prefix + "index")};
  }
  if (kind == "dense") {
    return DenseBias{read_table(file, prefix + "values"),
                     read_array<int32_t>(file, prefix + "row_index"),
                     read_array<int32_t>(file, prefix + "col_index")};
  }
  if (kind == "positions") {
    return PositionTables{read_table(file, prefix + "keys"), read_table(file, prefix + "queries"),
                          read_array<int32_t>(file, prefix + "index")};
  }
  fail(ErrorKind::kBadFile,
       "{}.bias is '{}' but should be one of: none, alibi, distance, dense, positions", where,
       kind);
}

Json distance_to_json(const std::optional<int64_t>& distance) {
  return distance ? Json(*distance) : Json();
}

std::optional<int64_t> distance_from_json(const Json& json, const std::string& where) {
  if (json.is_null()) return std::nullopt;
  return json.as_int(where);
}

}  // namespace

Json rule_to_json(const ScoreRule& rule, const std::string& site,
                  std::vector<NamedTensor>& tensors) {
  Json json = Json::object({{"scale", double{rule.scale}},
                            {"soft_cap", double{rule.soft_cap}},
                            {"query_offset", rule.mask.query_offset},
                            {"behind", distance_to_json(rule.mask.behind)},
                            {"ahead", distance_to_json(rule.mask.ahead)},
                            {"bias", bias_to_tensors(rule.bias, site + ".bias.", tensors)}});
  write_array(site + ".sink_logit", rule.sink_logit, tensors);
  write_array(site + ".mask.key_valid", rule.mask.key_valid, tensors);
  write_array(site + ".mask.query_group", rule.mask.query_group, tensors);
  write_array(site + ".mask.key_group", rule.mask.key_group, tensors);
  std::vector<int64_t> cuts;
  for (const CutEdge& cut : rule.cuts) cuts.insert(cuts.end(), {cut.row, cut.col, cut.head});
  write_array(site + ".cuts", cuts, tensors);
  return json;
}

ScoreRule rule_from_json(const Json& json, const SafetensorsFile& file, const std::string& site,
                         const std::string& where) {
  ScoreRule rule;
  rule.scale = static_cast<float>(json.at("scale", where).as_double(where + ".scale"));
  rule.soft_cap = static_cast<float>(json.at("soft_cap", where).as_double(where + ".soft_cap"));
  rule.mask.query_offset = json.at("query_offset", where).as_int(where + ".query_offset");
  rule.mask.behind = distance_from_json(json.at("behind", where), where + ".behind");
  rule.mask.ahead = distance_from_json(json.at("ahead", where), where + ".ahead");
  rule.bias = bias_from_tensors(json.at("bias", where).as_string(where + ".bias"), file,
                                site + ".bias.", where);
  rule.sink_logit = read_array<float>(file, site + ".sink_logit");
  rule.mask.key_valid = read_array<uint8_t>(file, site + ".mask.key_valid");
  rule.mask.query_group = read_array<int32_t>(file, site + ".mask.query_group");
  rule.mask.key_group = read_array<int32_t>(file, site + ".mask.key_group");
  const std::vector<int64_t> cuts = read_array<int64_t>(file, site + ".cuts");
  for (size_t i = 0; i + 2 < cuts.size(); i += 3) {
    rule.cuts.push_back({cuts[i], cuts[i + 1], cuts[i + 2]});
  }
  return rule;
}

}  // namespace fovea
