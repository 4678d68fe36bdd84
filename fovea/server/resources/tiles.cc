// Tiles of a map, and of the difference between two.
#include <cmath>
#include <limits>

#include "fovea/atlas/tile_code.h"
#include "fovea/base/team.h"
#include "fovea/server/caching.h"
#include "fovea/server/map_address.h"
#include "fovea/server/server_state.h"

namespace fovea {
namespace {

constexpr std::string_view kBytes = "application/octet-stream";
// A tile of this level is computed when it is asked for; one above it is looked at first.
constexpr int kExactLevel = 3;
constexpr int64_t kExactCells =
    (Pyramid::kTileSide << kExactLevel) * (Pyramid::kTileSide << kExactLevel);

struct TileAsk {
  std::shared_ptr<const Pyramid> pyramid;
  int level = 0;
  int64_t y = 0;
  int64_t x = 0;
  TilePool pool = TilePool::kMax;
  TileEncoding encoding = TileEncoding::kL16;
  bool wants_exact = false;
};

TilePool pool_named(const std::string& name) {
  if (name.empty() || name == "max") return TilePool::kMax;
  if (name == "mean") return TilePool::kMean;
  fail(ErrorKind::kInvalidArgument, Field{"agg"}, "'{}' is neither max nor mean", name);
}

TileAsk tile_ask(const Call& call, std::shared_ptr<const Pyramid> pyramid, bool is_signed) {
  TileAsk ask{.pyramid = std::move(pyramid)};
  ask.pool = pool_named(call.query("agg"));
  const std::string encoding = call.query("enc");
  ask.encoding = !encoding.empty() ? tile_encoding_named(encoding)
                 : is_signed       ? TileEncoding::kS16
                                   : TileEncoding::kL16;
  const int64_t level = call.number("level");
  if (level >= ask.pyramid->levels()) {
    fail(ErrorKind::kNotFound, Field{"level"}, "{} is no level of this map, which has 0 to {}",
         level, ask.pyramid->levels() - 1);
  }
  ask.level = static_cast<int>(level);
  ask.y = call.number("ty");
  ask.x = call.number("tx");
  const int64_t rows = ask.pyramid->tile_rows(ask.level), cols = ask.pyramid->tile_cols(ask.level);
  if (ask.y >= rows || ask.x >= cols) {
    fail(ErrorKind::kNotFound, Field{ask.y >= rows ? "ty" : "tx"},
         "there is no tile {},{}; level {} has {} x {} tiles", ask.y, ask.x, ask.level, rows, cols);
  }
  ask.wants_exact = call.query_number("exact", 0, 1) == 1;
  return ask;
}

bool is_cheap(const TileAsk& ask) {
  const Region region = ask.pyramid->region(ask.level, ask.y, ask.x);
  return ask.level <= kExactLevel || region.rows() * region.cols() <= kExactCells;
}

// Blocks become cells: NaN where the mask allows nothing.
Tensor cells_of(const TileAsk& ask, const PyramidTile& blocks) {
  const int64_t side = int64_t{1} << ask.level;
  const Tensor counts =
      ask.pyramid->source().allowed(ask.pyramid->region(ask.level, ask.y, ask.x), side);
  Tensor cells = Tensor::uninitialized(blocks.max.shape());
  const auto count = counts.values<int64_t>();
  const auto max = blocks.max.values<float>(), sum = blocks.sum.values<float>();
  const auto out = cells.mutable_values<float>();
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] = count[i] == 0                 ? std::numeric_limits<float>::quiet_NaN()
             : ask.pool == TilePool::kMean ? sum[i] / static_cast<float>(count[i])
                                           : max[i];
  }
  return cells;
}

WebResponse encoded(const TileAsk& ask, const PyramidTile& blocks, bool approximate) {
  const Mask& mask = ask.pyramid->source().record().rule.mask;
  const Tensor cells = cells_of(ask, blocks);
  const TileHeader header{.encoding = ask.encoding,
                          .level = ask.level,
                          .approximate = approximate,
                          .causal = mask.ahead && *mask.ahead == 0,
                          .pool = ask.level == 0 ? TilePool::kNone : ask.pool,
                          .row = ask.y * Pyramid::kTileSide,
                          .col = ask.x * Pyramid::kTileSide};
  return bytes_response(encode_tile(header, cells.matrix<float>()), kBytes);
}

WebResponse answer_ask(const Call& call, const TileAsk& ask) {
  ++call.state.counts.tiles;
  const std::string tag = tag_of(call.request);
  if (has_tag(call.request, tag)) return not_modified(tag);
  const bool cheap = is_cheap(ask);
  std::shared_ptr<const PyramidTile> exact = ask.pyramid->find_tile(ask.level, ask.y, ask.x);
  if (!exact && (cheap || ask.wants_exact)) {
    // As many tiles are computed at a time as there are cores, a core each.
    const SingleThread alone(cheap);
    exact = ask.pyramid->tile(ask.level, ask.y, ask.x);
  }
  if (exact) return immutable(encoded(ask, *exact, /*approximate=*/false), tag);
  call.state.exact.want(ask.pyramid, kExactLevel + 1);
  const PyramidTile look =
      run_on_free_team([&] { return ask.pyramid->first_look(ask.level, ask.y, ask.x); });
  WebResponse response = encoded(ask, look, /*approximate=*/true);
  response.headers.emplace_back("Retry-After", "1");
  return response;
}

WebResponse answer_tile(const Call& call) {
  call.check_query({"agg", "of", "enc", "exact"});
  const AddressedMap map = addressed_map(call);
  const bool is_signed = map.choice.value == MapValue::kScore;
  return answer_ask(call,
                    tile_ask(call, map.run->pyramid(map.choice, call.state.tiles), is_signed));
}

WebResponse answer_difference(const Call& call) {
  call.check_query({"agg", "of", "enc", "exact"});
  const ServedMap choice = addressed_choice(call);
  const auto a = call.state.runs.run(call.name("a")), b = call.state.runs.run(call.name("b"));
  const auto pyramid = a->difference(*b, choice, call.state.tiles);
  return answer_ask(call, tile_ask(call, pyramid, /*is_signed=*/true));
}

Route tiles(const char* pattern, const char* summary, WebResponse (*answer)(const Call&)) {
  return {.method = "GET",
          .pattern = pattern,
          .summary = summary,
          .lane = Lane::kTile,
          .answer = answer};
}

}  // namespace

Resource tiles_resource() {
  return {{tiles("/v1/runs/{hash}/{site}/tiles/{layer}/{head}/{level}/{ty}/{tx}", "a tile of a map",
                 answer_tile),
           tiles("/v1/diff/{a}/{b}/{site}/tiles/{layer}/{head}/{level}/{ty}/{tx}",
                 "a tile of what two maps differ by", answer_difference)}};
}

}  // namespace fovea
