// What is known of a map at a glance: the quantiles of its values, its strongest weights, and all
// heads as thumbnails.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "fovea/atlas/tile_code.h"
#include "fovea/base/cancel.h"
#include "fovea/base/error.h"
#include "fovea/base/parse.h"
#include "fovea/base/team.h"
#include "fovea/server/caching.h"
#include "fovea/server/map_address.h"
#include "fovea/server/server_state.h"

namespace fovea {
namespace {

constexpr std::array kShares = {0.0,  0.001, 0.01, 0.05, 0.1,   0.25, 0.5,
                                0.75, 0.9,   0.95, 0.99, 0.999, 1.0};
// More cells than these are judged by some of the rows.
constexpr int64_t kAllCells = int64_t{1} << 22;
constexpr int64_t kRunRows = 12;  // as many as the kernels compute at a time
constexpr int64_t kMostTopRows = 1024;
constexpr int64_t kThumbnailCells = int64_t{1} << 21;

// Rows [begin, end) to look at, spread over the map.
std::vector<std::pair<int64_t, int64_t>> rows_to_read(int64_t rows, int64_t cols) {
  if (rows * cols <= kAllCells) return {{0, rows}};
  const int64_t runs = std::max<int64_t>(kAllCells / cols / kRunRows, 8);
  std::vector<std::pair<int64_t, int64_t>> chosen;
  for (int64_t run = 0; run < runs; ++run) {
    const int64_t begin = run * rows / runs, end = (run + 1) * rows / runs;
    const int64_t count = std::min(kRunRows, end - begin);
    const int64_t first = begin + (end - begin - count) / 2;
    chosen.emplace_back(first, first + count);
  }
  return chosen;
}

struct ReadValues {
  std::vector<float> values;  // of allowed cells
  bool whole = true;
};

ReadValues values_of(const CellSource& source) {
  ReadValues read;
  const auto parts = rows_to_read(source.rows(), source.cols());
  read.whole = parts.size() == 1 && parts.front().second == source.rows();
  const Mask& mask = source.record().rule.mask;
  for (const auto& [first, last] : parts) {
    const int64_t step = std::max<int64_t>(kAllCells / 8 / source.cols(), kRunRows);
    for (int64_t begin = first; begin < last; begin += step) {
      check_cancelled();
      const int64_t end = std::min(begin + step, last);
      const Tensor cells = source.cells({begin, end, 0, source.cols()});
      for (int64_t row = begin; row < end; ++row) {
        const KeyRange seen = mask.key_range(row, source.cols());
        for (int64_t col = seen.begin; col < seen.end; ++col) {
          const float value = cells.matrix<float>()(row - begin, col);
          if (std::isfinite(value) && mask.allows(row, col)) read.values.push_back(value);
        }
      }
    }
  }
  return read;
}

WebResponse answer_quantiles(const Call& call) {
  call.check_query({"of"});
  if (const std::string tag = tag_of(call.request); has_tag(call.request, tag)) {
    return not_modified(tag);
  }
  const AddressedMap map = addressed_map(call);
  const auto pyramid = map.run->pyramid(map.choice, call.state.tiles);
  ReadValues read = run_on_free_team([&] { return values_of(pyramid->source()); });
  std::ranges::sort(read.values);
  Json quantiles = Json::array();
  const auto last = static_cast<double>(read.values.size()) - 1;
  for (const double share : kShares) {
    if (read.values.empty()) break;
    const auto place = static_cast<size_t>(std::llround(share * last));
    quantiles.push_back(Json(Json::Array{share, double{read.values[place]}}));
  }
  double sum = 0;
  for (const float value : read.values) sum += double{value};
  const auto count = static_cast<double>(read.values.size());
  const auto positive = std::ranges::upper_bound(read.values, 0.0F);
  Json json = Json::object({{"of", map_value_names()[static_cast<size_t>(map.choice.value)]},
                            {"approximate", !read.whole},
                            {"cells", read.values.size()},
                            {"zeros", static_cast<int64_t>(std::ranges::count(read.values, 0.0F))},
                            {"mean", read.values.empty() ? Json() : Json(sum / count)}});
  json.set("least_positive", positive == read.values.end() ? Json() : Json(double{*positive}));
  json.set("quantiles", std::move(quantiles));
  return immutable(json_response(json), tag_of(call.request));
}

std::pair<int64_t, int64_t> rows_asked(const Call& call, int64_t rows) {
  const std::string text = call.query("rows");
  if (text.empty()) return {0, std::min(rows, kMostTopRows)};
  const size_t colon = text.find(':');
  const bool is_range = colon != text.npos;
  const int64_t begin = parse_number<int64_t>(text.substr(0, colon)).value_or(-1);
  const int64_t end = is_range ? parse_number<int64_t>(text.substr(colon + 1)).value_or(-1) : -1;
  if (begin < 0 || end < begin || end > rows) {
    fail(ErrorKind::kInvalidArgument, Field{"rows"},
         "it is '{}' but must be A:B, from 0 and up to {}", text, rows);
  }
  if (end - begin > kMostTopRows) {
    fail(ErrorKind::kInvalidArgument, Field{"rows"}, "{} rows are asked for; {} at a time, please",
         end - begin, kMostTopRows);
  }
  return {begin, end};
}

// Of a row the largest values until their sum is that share of its own.
Json top_json(std::span<const float> cells, const Mask& mask, int64_t row, double mass,
              int64_t most) {
  std::vector<int64_t> columns;
  double total = 0;
  for (int64_t col = 0; col < std::ssize(cells); ++col) {
    const float value = cells[static_cast<size_t>(col)];
    if (!(value > 0) || !mask.allows(row, col)) continue;
    columns.push_back(col);
    total += double{value};
  }
  std::ranges::sort(columns, [&](int64_t a, int64_t b) {
    const float x = cells[static_cast<size_t>(a)], y = cells[static_cast<size_t>(b)];
    return x != y ? x > y : a < b;
  });
  Json taken = Json::array(), values = Json::array();
  double sum = 0;
  int64_t count = 0;
  for (const int64_t col : columns) {
    if (count >= most || sum >= mass * total) break;
    taken.push_back(col);
    values.push_back(double{cells[static_cast<size_t>(col)]});
    sum += double{cells[static_cast<size_t>(col)]};
    ++count;
  }
  return Json::object({{"row", row},
                       {"columns", std::move(taken)},
                       {"values", std::move(values)},
                       {"sum", sum},
                       {"total", total}});
}

WebResponse answer_top(const Call& call) {
  call.check_query({"mass", "rows", "of", "most"});
  if (const std::string tag = tag_of(call.request); has_tag(call.request, tag)) {
    return not_modified(tag);
  }
  const std::string text = call.query("mass");
  const double mass = text.empty() ? 0.9 : parse_number<double>(text).value_or(-1);
  if (!(mass > 0 && mass <= 1)) {
    fail(ErrorKind::kInvalidArgument, Field{"mass"}, "it is '{}' but must be above 0 and at most 1",
         text);
  }
  const int64_t most = call.query_number("most", kMostTopRows, int64_t{1} << 20);
  const AddressedMap map = addressed_map(call);
  const auto source = map.run->pyramid(map.choice, call.state.tiles);
  const auto [begin, end] = rows_asked(call, source->source().rows());
  Json rows = Json::array();
  const int64_t step = std::max<int64_t>(kAllCells / 4 / source->source().cols(), kRunRows);
  for (int64_t first = begin; first < end; first += step) {
    check_cancelled();
    const int64_t last = std::min(first + step, end);
    const Tensor cells = source->source().cells({first, last, 0, source->source().cols()});
    for (int64_t row = first; row < last; ++row) {
      const auto all = cells.values<float>();
      const auto width = static_cast<size_t>(source->source().cols());
      rows.push_back(top_json(all.subspan(static_cast<size_t>(row - first) * width, width),
                              source->source().record().rule.mask, row, mass, most));
    }
  }
  return immutable(json_response(Json::object({{"mass", mass}, {"rows", std::move(rows)}})),
                   tag_of(call.request));
}

// One head as a small picture: the largest weight of each part of it.
void draw_thumbnail(const AttentionMap& map, MatrixView<float> out) {
  const int64_t rows = map.rows(), cols = map.cols();
  const Mask& mask = map.record().rule.mask;
  const int64_t piece = std::max<int64_t>(1, kThumbnailCells / out.rows / cols);
  for (int64_t r = 0; r < out.rows; ++r) {
    check_cancelled();
    const int64_t begin = r * rows / out.rows;
    const int64_t end = std::max((r + 1) * rows / out.rows, begin + 1);
    // Of a long map some rows in the middle of each part stand for it.
    const int64_t count = std::min(end - begin, piece);
    const int64_t first = begin + (end - begin - count) / 2;
    const Tensor cells = map.tile({first, first + count, 0, cols});
    for (int64_t row = first; row < first + count; ++row) {
      const float* line = cells.matrix<float>().row(row - first);
      for (int64_t c = 0; c < out.cols; ++c) {
        const int64_t col_end = std::max((c + 1) * cols / out.cols, c * cols / out.cols + 1);
        for (int64_t col = c * cols / out.cols; col < col_end; ++col) {
          if (!mask.allows(row, col)) continue;
          float& cell = out(r, c);
          cell = std::isnan(cell) ? line[col] : std::max(cell, line[col]);
        }
      }
    }
  }
}

WebResponse answer_sprite(const Call& call) {
  call.check_query({"size", "enc"});
  if (const std::string tag = tag_of(call.request); has_tag(call.request, tag)) {
    return not_modified(tag);
  }
  const auto run = call.state.runs.run(call.name("hash"));
  const std::string encoding = call.query("enc");
  const int64_t size = call.query_number("size", 32, 256);
  if (size < 4)
    fail(ErrorKind::kInvalidArgument, Field{"size"}, "it is {} but must be 4 to 256", size);
  std::vector<std::shared_ptr<const AttentionRecord>> layers;
  SiteKind kind{};
  try {
    kind = parse_site_kind(call.name("site"));
  } catch (const Error& error) {
    throw Error(ErrorKind::kNotFound, Field{"site"}, error.what());
  }
  int64_t heads = 0;
  for (const auto& record : run->finished()->run().records) {
    if (record->site.kind != kind) continue;
    layers.push_back(record);
    heads = std::max(heads, record->shape().heads);
  }
  if (layers.empty()) {
    fail(ErrorKind::kNotFound, Field{"site"}, "this run has no {}", to_string(kind));
  }
  Tensor atlas = Tensor::uninitialized({std::ssize(layers) * size, heads * size});
  std::ranges::fill(atlas.mutable_values<float>(), std::numeric_limits<float>::quiet_NaN());
  run_on_free_team([&] {
    for (int64_t layer = 0; layer < std::ssize(layers); ++layer) {
      const auto& record = layers[static_cast<size_t>(layer)];
      for (int64_t head = 0; head < record->shape().heads; ++head) {
        draw_thumbnail(AttentionMap(record, head),
                       atlas.mutable_matrix<float>().block(layer * size, head * size, size, size));
      }
    }
  });
  const Mask& mask = layers.front()->rule.mask;
  const TileHeader header{
      .encoding = encoding.empty() ? TileEncoding::kL8 : tile_encoding_named(encoding),
      .causal = mask.ahead && *mask.ahead == 0,
      .pool = TilePool::kMax};
  WebResponse response =
      bytes_response(encode_tile(header, atlas.matrix<float>()), "application/octet-stream");
  return immutable(std::move(response), tag_of(call.request));
}

Route overview(const char* pattern, const char* summary, WebResponse (*answer)(const Call&)) {
  return {.method = "GET",
          .pattern = pattern,
          .summary = summary,
          .lane = Lane::kWork,
          .answer = answer};
}

}  // namespace

Resource overviews_resource() {
  return {{overview("/v1/runs/{hash}/{site}/quantiles/{layer}/{head}",
                    "what the colours of a map are chosen by", answer_quantiles),
           overview("/v1/runs/{hash}/{site}/topk/{layer}/{head}", "the strongest weights of rows",
                    answer_top),
           overview("/v1/runs/{hash}/{site}/sprite", "all heads of all layers as thumbnails",
                    answer_sprite)}};
}

}  // namespace fovea
