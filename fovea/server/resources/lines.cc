// One row or column of a map, and one cell with what it is made of.
#include <algorithm>

#include "fovea/atlas/merged_map.h"
#include "fovea/base/error.h"
#include "fovea/server/caching.h"
#include "fovea/server/map_address.h"
#include "fovea/server/server_state.h"
#include "fovea/tensor/convert.h"

namespace fovea {
namespace {

// f32, one after the other.
WebResponse line_response(const Call& call, const std::vector<double>& line) {
  std::string bytes(line.size() * sizeof(float), '\0');
  for (size_t i = 0; i < line.size(); ++i) {
    const auto number = static_cast<float>(line[i]);
    std::copy_n(reinterpret_cast<const char*>(&number), sizeof(number),
                bytes.data() + i * sizeof(number));
  }
  return immutable(bytes_response(std::move(bytes), "application/octet-stream"),
                   tag_of(call.request));
}

WebResponse answer_line(const Call& call, const char* name, bool column) {
  call.check_query({"of"});
  if (const std::string tag = tag_of(call.request); has_tag(call.request, tag)) {
    return not_modified(tag);
  }
  const AddressedMap map = addressed_map(call);
  const auto record = map.run->record(map.choice.site);
  const AttentionShape shape = record->shape();
  const int64_t index = addressed_position(call, name, column ? shape.cols : shape.rows);
  return line_response(call, line_of(record, index, map.choice.head, column, map.choice.value));
}

WebResponse answer_row(const Call& call) {
  return answer_line(call, "i", /*column=*/false);
}

WebResponse answer_column(const Call& call) {
  return answer_line(call, "j", /*column=*/true);
}

std::vector<float> vector_of(const Tensor& heads, int64_t head, int64_t position) {
  const int64_t dim = heads.size(2);
  const Shape shape{dim};
  const auto offset =
      static_cast<size_t>((head * heads.size(1) + position) * dim) * dtype_bytes(heads.dtype());
  const Tensor one =
      convert(Tensor::borrow(shape, heads.dtype(), heads.raw() + offset, nullptr), DType::kF32);
  return {one.values<float>().begin(), one.values<float>().end()};
}

Json numbers_json(const std::vector<float>& numbers) {
  Json json = Json::array();
  for (const float number : numbers) json.push_back(double{number});
  return json;
}

// q . k term by term, and how the score becomes the weight.
Json terms_of(const AttentionRecord& record, const AttentionMap& map, int64_t row, int64_t col) {
  const AttentionShape shape = record.shape();
  const int64_t head = map.head();
  const std::vector<float> query = vector_of(record.queries, head, row);
  const std::vector<float> key = vector_of(record.keys, shape.kv_head(head), col);
  Json products = Json::array();
  double dot = 0;
  for (size_t d = 0; d < query.size(); ++d) {
    const double product = double{query[d]} * double{key[d]};
    products.push_back(product);
    dot += product;
  }
  const double lse = record.lse.dtype() == DType::kF64
                         ? record.lse.matrix<double>()(head, row)
                         : double{record.lse.matrix<float>()(head, row)};
  const double score = reference_score(record.rule, shape, head, row, col, query, key);
  Json json = Json::object({{"query", numbers_json(query)},
                            {"key", numbers_json(key)},
                            {"products", std::move(products)},
                            {"dot", dot},
                            {"scale", double{record.rule.scale}},
                            {"scaled", dot * double{record.rule.scale}},
                            {"soft_cap", double{record.rule.soft_cap}},
                            {"score", score},
                            {"lse", lse}});
  return json;
}

WebResponse answer_cell(const Call& call) {
  call.check_query({"of"});
  const AddressedMap addressed = addressed_map(call);
  const auto record = addressed.run->record(addressed.choice.site);
  const AttentionShape shape = record->shape();
  const int64_t row = addressed_position(call, "i", shape.rows);
  const int64_t col = addressed_position(call, "j", shape.cols);
  const bool allowed = record->rule.mask.allows(row, col);
  const auto source = cell_source(record, addressed.choice.head, addressed.choice.value);
  const float value = source->cells({row, row + 1, col, col + 1}).values<float>()[0];
  Json json = Json::object({{"row", row}, {"column", col}, {"allowed", allowed}});
  json.set("value", allowed ? Json(double{value}) : Json());
  if (addressed.choice.head.kind == HeadChoice::Kind::kOne) {
    const AttentionMap map(record, addressed.choice.head.head);
    json.set("weight", double{map.cell(row, col)});
    if (record->has_queries() && allowed) json.set("terms", terms_of(*record, map, row, col));
  }
  return json_response(json);
}

Route line(const char* pattern, const char* summary, WebResponse (*answer)(const Call&)) {
  return {.method = "GET",
          .pattern = pattern,
          .summary = summary,
          .lane = Lane::kTile,
          .answer = answer};
}

}  // namespace

Resource lines_resource() {
  return {{line("/v1/runs/{hash}/{site}/row/{layer}/{head}/{i}", "what a position attends to",
                answer_row),
           line("/v1/runs/{hash}/{site}/column/{layer}/{head}/{j}", "who attends to a position",
                answer_column),
           line("/v1/runs/{hash}/{site}/cell/{layer}/{head}/{i}/{j}",
                "one weight, exactly, and what it is made of", answer_cell)}};
}

}  // namespace fovea
