#include "fovea/render/page_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "fovea/base/json.h"
#include "fovea/base/utf8.h"
#include "fovea/base/version.h"
#include "fovea/capture/site.h"
#include "fovea/capture/words.h"
#include "fovea/figure/color_axis.h"
#include "fovea/figure/color_map.h"
#include "fovea/figure/running_text.h"
#include "fovea/render/page_codec.h"

namespace fovea {
namespace {

// The colour maps that suit weights, which are never negative. Another one is there only if it was
// asked for.
constexpr std::string_view kColors[] = {"inferno", "cividis", "viridis", "paper"};

// How a position stands in the running text.
enum class ReadKind { kText = 0, kChip = 1, kFurtherPiece = 2 };

// For every position what comes before it in the text, itself, and how it is shown.
Json read_json(const Axis& axis) {
  const RunningText running = running_text(axis);
  Json read = Json::array();
  size_t done = 0;
  for (size_t i = 0; i < axis.positions.size(); ++i) {
    const TextPlace& place = running.places[i];
    const bool overlaps = place.begin < done;
    const bool further = !place.chip && (place.part > 0 || overlaps);
    const std::string text = running.text.substr(place.begin, place.end - place.begin);
    // A joiner by itself, say, would not be seen.
    const ReadKind kind = place.chip || display_width(text) == 0 ? ReadKind::kChip
                          : further                              ? ReadKind::kFurtherPiece
                                                                 : ReadKind::kText;
    const bool own_text = kind == ReadKind::kText;
    Json item = Json::array();
    item.push_back(overlaps ? "" : running.text.substr(done, place.begin - done));
    item.push_back(own_text ? text : to_one_line(axis.positions[i].text));
    item.push_back(static_cast<int>(kind));
    read.push_back(std::move(item));
    done = std::max(done, place.end);
  }
  return read;
}

Json axis_json(const Axis& axis) {
  Json labels = Json::array();
  Json names = Json::array();
  Json special = Json::array();
  for (size_t i = 0; i < axis.positions.size(); ++i) {
    const auto index = static_cast<int64_t>(i);
    labels.push_back(to_one_line(axis.positions[i].text));
    names.push_back(to_one_line(plain_label(axis, index)));
    if (axis.positions[i].special) special.push_back(index);
  }
  Json json = Json::object();
  json.set("name", to_valid_utf8(axis.name));
  json.set("labels", std::move(labels));
  json.set("names", std::move(names));
  json.set("special", std::move(special));
  json.set("read", read_json(axis));
  if (axis.grid_rows > 0) {
    Json grid = Json::array();
    grid.push_back(axis.grid_rows);
    grid.push_back(axis.grid_cols);
    json.set("grid", std::move(grid));
  }
  return json;
}

Json mask_json(const Mask& mask) {
  Json json = Json::object({{"offset", mask.query_offset},
                            {"behind", mask.behind ? Json(*mask.behind) : Json()},
                            {"ahead", mask.ahead ? Json(*mask.ahead) : Json()}});
  if (!mask.key_valid.empty()) {
    Json hidden = Json::array();
    for (size_t key = 0; key < mask.key_valid.size(); ++key) {
      if (mask.key_valid[key] == 0) hidden.push_back(key);
    }
    json.set("hiddenKeys", std::move(hidden));
  }
  if (!mask.key_group.empty()) {
    Json queries = Json::array();
    Json keys = Json::array();
    for (const int32_t group : mask.query_group) queries.push_back(int{group});
    for (const int32_t group : mask.key_group) keys.push_back(int{group});
    json.set("queryGroups", std::move(queries));
    json.set("keyGroups", std::move(keys));
  }
  return json;
}

Json encoding_json() {
  return Json::object(
      {{"map",
        "base64 of raw deflate of: one code per allowed cell, row by row; a code below 255 is a "
        "byte, others are 255, low byte, high byte; weight = code / levels; then as "
        "little-endian float32 the sum of each row and of each column"},
       {"thumbnails",
        "base64 of two bytes per block, low byte first, head after head, line by line; 65535: no "
        "allowed cell, else the block's share is (code / 65534)^2: rows by mean, columns by sum"},
       {"thumbnailSide", kThumbnailSide}});
}

Json colors_json(const std::string& asked) {
  std::vector<std::string_view> names(std::begin(kColors), std::end(kColors));
  if (!asked.empty() && std::ranges::find(names, asked) == names.end()) names.push_back(asked);
  Json json = Json::object();
  for (const std::string_view name : names) {
    std::string bytes;
    for (const Rgb color : color_map(name).table()) {
      bytes += static_cast<char>(color.red);
      bytes += static_cast<char>(color.green);
      bytes += static_cast<char>(color.blue);
    }
    json.set(std::string(name), to_base64(as_bytes(bytes)));
  }
  return json;
}

// 0.5, or "1%".
Json range_end_json(const RangeEnd& end) {
  return end.percentile ? Json(fmt::format("{}%", end.value)) : Json(end.value);
}

Json start_json(const PageStart& start) {
  Json json =
      Json::object({{"site", start.site},
                    {"head", start.head_number ? Json(*start.head_number) : Json(start.head)},
                    {"view", start.view},
                    {"colors", start.colors},
                    {"token", start.token ? Json(*start.token) : Json()},
                    {"column", start.column}});
  if (start.of) json.set("of", map_value_names()[static_cast<size_t>(*start.of)]);
  if (start.curve) json.set("scale", name_of(*start.curve));
  if (start.range) {
    json.set("range", Json(Json::Array{range_end_json(start.range->low),
                                       range_end_json(start.range->high)}));
  }
  return json;
}

// Axes and masks that are used, each once.
class Parts {
 public:
  explicit Parts(const Run& run) : run_(run) {}

  size_t axis(const std::string& name) {
    const auto found = std::ranges::find(names_, name);
    const auto index = static_cast<size_t>(found - names_.begin());
    if (found == names_.end()) {
      names_.push_back(name);
      axes.push_back(axis_json(*run_.find_axis(name)));
    }
    return index;
  }
  size_t mask(const Mask& mask) {
    Json json = mask_json(mask);
    const std::string text = json.dump();
    const auto found = std::ranges::find(texts_, text);
    const auto index = static_cast<size_t>(found - texts_.begin());
    if (found == texts_.end()) {
      texts_.push_back(text);
      masks.push_back(std::move(json));
    }
    return index;
  }

  Json axes = Json::array();
  Json masks = Json::array();

 private:
  const Run& run_;
  std::vector<std::string> names_;
  std::vector<std::string> texts_;
};

Json site_json(const PageSite& site, Parts& parts) {
  const AttentionRecord& record = *site.record;
  const AttentionShape shape = record.shape();
  return Json::object({{"site", to_string(record.site)},
                       {"kind", name_of(record.site.kind)},
                       {"layer", record.site.layer},
                       {"heads", Json::array_of(site.heads)},
                       {"allHeads", shape.heads},
                       {"rows", shape.rows},
                       {"cols", shape.cols},
                       {"rowAxis", parts.axis(record.row_axis)},
                       {"colAxis", parts.axis(record.col_axis)},
                       {"mask", parts.mask(record.rule.mask)},
                       {"levels", site.levels},
                       {"largest", Json::array_of(site.largest)}});
}

}  // namespace

std::string page_title(const Run& run, SiteKind kind) {
  std::filesystem::path path(run.model);
  if (!path.has_filename()) path = path.parent_path();
  const std::string model = to_one_line(path.filename().string());
  return fmt::format("{} · {}", model.empty() ? "captured run" : model, name_of(kind));
}

std::string page_header(const Run& run, const PageContent& content) {
  Parts parts(run);
  Json sites = Json::array();
  for (const PageSite& site : content.sites) sites.push_back(site_json(site, parts));
  Json json = Json::object({{"format", "fovea-page"},
                            {"version", 1},
                            {"program", fmt::format("fovea {}", version())},
                            {"title", to_one_line(content.title)},
                            {"model", to_valid_utf8(run.model)},
                            {"modelHash", to_valid_utf8(run.model_hash)},
                            {"method", "attention"},
                            {"encoding", encoding_json()},
                            {"start", start_json(content.start)}});
  json.set("sites", std::move(sites));
  json.set("axes", std::move(parts.axes));
  json.set("masks", std::move(parts.masks));
  if (!run.picture.empty()) {
    Json size = Json::array();
    size.push_back(run.picture.size(1));
    size.push_back(run.picture.size(0));
    json.set("picture", std::move(size));
  }
  json.set("colors", colors_json(content.start.colors));
  std::string text;
  for (const char letter : json.dump()) {
    text += letter == '<' ? std::string("\\u003c") : std::string(1, letter);
  }
  return text;
}

}  // namespace fovea
