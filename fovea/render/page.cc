#include "fovea/render/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/json.h"
#include "fovea/base/markup.h"
#include "fovea/base/parallel.h"
#include "fovea/base/sha256.h"
#include "fovea/base/utf8.h"
#include "fovea/base/version.h"
#include "fovea/figure/map_drawing.h"
#include "fovea/figure/picture_view.h"
#include "fovea/figure/view_frame.h"
#include "fovea/render/page_codec.h"
#include "fovea/render/page_header.h"
#include "fovea/render/png.h"
#include "fovea/webfiles/viewer.h"

namespace fovea {
namespace {

// Records of the chosen kinds and layers, kinds in the order of the run, layers rising.
std::vector<RecordPointer> chosen_records(const Run& run, const ViewChoice& choice) {
  std::vector<SiteKind> kinds;
  for (const RecordPointer& record : run.records) {
    const bool wanted = !choice.kind || *choice.kind == record->site.kind;
    if (wanted && std::ranges::find(kinds, record->site.kind) == kinds.end())
      kinds.push_back(record->site.kind);
  }
  std::vector<RecordPointer> records;
  if (choice.layer || kinds.empty()) {
    records.push_back(chosen_record(run, choice));
  } else {
    for (const SiteKind kind : kinds) {
      const std::vector<RecordPointer> more = records_of(run, kind);
      records.insert(records.end(), more.begin(), more.end());
    }
  }
  for (const RecordPointer& record : records) maps_meant(choice.head, *record);  // are they there?
  return records;
}

PageContent content_of(const Run& run, const PageOptions& options) {
  PageContent content;
  if (!run.picture.empty()) {
    content.picture = encode_png(picture_of(run), {.software = "", .rows_repeat = false});
  }
  int64_t cells = 0;
  const HeadChoice& chosen = options.choice.head;
  const bool some = chosen.kind == HeadChoice::Kind::kOne || chosen.kind == HeadChoice::Kind::kSome;
  for (const RecordPointer& record : chosen_records(run, options.choice)) {
    PageSite site;
    site.record = record;
    const AttentionShape shape = record->shape();
    // The viewer puts maps together out of all heads.
    for (const HeadChoice& map : maps_meant(some ? chosen : HeadChoice{}, *record)) {
      site.heads.push_back(map.head);
    }
    site.cells = allowed_cells(record->rule.mask, shape.rows, shape.cols);
    cells += site.cells * static_cast<int64_t>(site.heads.size());
    content.sites.push_back(std::move(site));
  }
  for (PageSite& site : content.sites) site.levels = page_levels(site.record->shape().cols, cells);
  return content;
}

// An estimate from above: among all distributions over a row of n cells, codes of the exponential
// one need the most bits, log2(e * levels / n) each. Deflate adds a little, base64 a third.
double estimated_bytes(const PageSite& site) {
  const AttentionShape shape = site.record->shape();
  const auto cells = static_cast<double>(site.cells);
  const double row_cells =
      std::max(1.0, cells / static_cast<double>(std::max<int64_t>(shape.rows, 1)));
  const double steps = static_cast<double>(site.levels) / row_cells;
  const double bits = 0.1 + 1.01 * std::log2(1 + std::exp(1.0) * steps);
  const double sums = 4.0 * static_cast<double>(shape.rows + shape.cols);
  const auto thumbnail = static_cast<double>(kThumbnailSide * kThumbnailSide) * 2;
  return static_cast<double>(site.heads.size()) * (cells * bits / 8 + sums + thumbnail) * 4 / 3;
}

uint64_t estimated_bytes(const PageContent& content) {
  double bytes = 16'000 + 4.0 * static_cast<double>(content.picture.size()) / 3 +
                 static_cast<double>(viewer_script().size() + viewer_style().size());
  for (const PageSite& site : content.sites) {
    const AttentionShape shape = site.record->shape();
    bytes += estimated_bytes(site);
    if (&site == &content.sites.front())
      bytes += 48.0 * static_cast<double>(shape.rows + shape.cols);
  }
  return static_cast<uint64_t>(bytes);
}

void refuse_too_large(const PageContent& content, const ViewChoice& choice) {
  const uint64_t bytes = estimated_bytes(content);
  if (bytes <= kMostPageBytes) return;
  size_t maps = 0;
  for (const PageSite& site : content.sites) maps += site.heads.size();
  const AttentionShape shape = content.sites.front().record->shape();
  const bool one_map = choice.layer && choice.head.kind == HeadChoice::Kind::kOne;
  fail(ErrorKind::kInvalidArgument, one_map ? Field{} : Field{choice.layer ? "head" : "layer"},
       "a page of {} map{} of {} x {} would take about {} MB but at most {} MB are written; {}",
       maps, maps == 1 ? "" : "s", shape.rows, shape.cols, bytes / 1'000'000,
       kMostPageBytes / 1'000'000, one_map ? "write a .png, or the numbers as .npy" : "choose one");
}

// What is drawn at first, and in which colours.
void set_drawing(PageStart& start, const ViewChoice& choice, const AttentionShape& shape) {
  start.of = choice.of;
  start.curve = choice.curve;
  start.range = choice.range;
  if (start.of && *start.of != MapValue::kWeight && *start.of != MapValue::kTimesEven) {
    fail(ErrorKind::kInvalidArgument, Field{"of"},
         "a page keeps weights, from which it draws weight and times-even; choose one of them, or "
         "write a .png");
  }
  // Refuses what does not go together.
  scale_of(map_drawing(choice, start.view == "read" ? 1 : std::max(shape.rows, shape.cols)), {});
}

// Where the page opens.
PageStart start_of(const Run& run, const PageOptions& options, const PageContent& content) {
  const ViewChoice& choice = options.choice;
  if (choice.words) {
    fail(ErrorKind::kInvalidArgument, Field{"words"},
         "a page shows every token, not their pieces put together; leave it out");
  }
  constexpr std::string_view kViews[] = {"", "matrix", "read", "heads"};
  if (std::ranges::count(kViews, options.view) == 0) {
    fail(ErrorKind::kInvalidArgument,
         "a page has the views matrix, read and heads but not {}; write it as .png or .svg",
         options.view);
  }
  if (choice.column && !choice.token) {
    fail(ErrorKind::kInvalidArgument,
         "a column shows who attends to a token, but no token is chosen; choose one");
  }
  if (choice.head.kind == HeadChoice::Kind::kMin) {
    fail(ErrorKind::kInvalidArgument, Field{"head"},
         "a page shows each head, their mean and their largest, but not their smallest; write it "
         "as .png or .svg");
  }
  PageStart start;
  if (choice.token || !run.picture.empty()) start.view = "read";  // a picture is looked at
  if (!options.view.empty()) start.view = options.view;
  if (!options.colors.empty()) start.colors = color_map(options.colors).name();
  // The last layer of that kind.
  const SiteKind kind = options.opens_at.value_or(content.sites.front().record->site.kind);
  for (size_t i = 0; i < content.sites.size(); ++i) {
    const SiteId site = content.sites[i].record->site;
    if (site.kind == kind && site.layer <= options.opens_at_layer.value_or(site.layer)) {
      start.site = i;
    }
  }
  start.head_number = options.opens_at_head;
  if (choice.head.kind == HeadChoice::Kind::kMean) start.head = "mean";
  if (choice.head.kind == HeadChoice::Kind::kMax) start.head = "max";
  start.column = choice.column;
  set_drawing(start, choice, content.sites[start.site].record->shape());
  if (choice.token) {
    const AttentionRecord& record = *content.sites[start.site].record;
    const std::string& axis = choice.column ? record.col_axis : record.row_axis;
    start.token = token_named(make_side(run, axis, false), choice).index;
  }
  return start;
}

struct PageMap {
  size_t site;
  int64_t head;
  std::string base64;
  EncodedMap encoded;
};

std::vector<PageMap> encode_maps(PageContent& content) {
  std::vector<PageMap> maps;
  for (size_t site = 0; site < content.sites.size(); ++site) {
    for (const int64_t head : content.sites[site].heads) maps.push_back({site, head, "", {}});
  }
  parallel_for(static_cast<int64_t>(maps.size()), [&](int64_t i) {
    PageMap& map = maps[static_cast<size_t>(i)];
    const PageSite& site = content.sites[map.site];
    map.encoded = encode_map(AttentionMap(site.record, map.head), site.levels);
    map.base64 = to_base64(as_bytes(map.encoded.packed));
    map.encoded.packed = {};
  });
  for (const PageMap& map : maps) {
    PageSite& site = content.sites[map.site];
    site.largest.push_back(map.encoded.largest);
  }
  return maps;
}

std::string escaped(std::string_view text) {
  return escape_attribute(to_one_line(text));
}

// The hash by which a content security policy names an inline script or style.
std::string source_hash(std::string_view text) {
  const std::string hex = sha256_hex(as_bytes(text));
  std::string bytes;
  for (size_t i = 0; i < hex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return "'sha256-" + to_base64(as_bytes(bytes)) + "'";
}

std::string data_block(std::string_view id, std::string_view base64) {
  return fmt::format("<script type=\"application/octet-stream;base64\" id=\"{}\">{}</script>\n", id,
                     base64);
}

// All that comes before the data. What a reader without scripts sees is in it.
std::string page_head(std::string_view title) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src {}; "
      "style-src {}; img-src data:; base-uri 'none'; form-action 'none'\">\n"
      "<meta name=\"generator\" content=\"fovea {}\">\n<link rel=\"icon\" href=\"data:,\">\n"
      "<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n"
      "<div id=\"fovea\"><h1>{}</h1>\n"
      "<noscript><p>This page draws attention maps with JavaScript, which is switched off."
      "</p></noscript></div>\n",
      source_hash(viewer_script()), source_hash(viewer_style()), version(), title, viewer_style(),
      title);
}

}  // namespace

bool is_page_suffix(const std::filesystem::path& path) {
  const std::string suffix = lower_suffix(path);
  return suffix == ".html" || suffix == ".htm";
}

uint64_t page_bytes_estimate(const Run& run, const PageOptions& options) {
  return estimated_bytes(content_of(run, options));
}

void write_page(const std::filesystem::path& path, const Run& run, const PageOptions& options) {
  PageContent content = content_of(run, options);
  content.start = start_of(run, options, content);
  refuse_too_large(content, options.choice);
  const std::vector<PageMap> maps = encode_maps(content);
  const SiteKind kind = options.opens_at.value_or(content.sites.front().record->site.kind);
  content.title = options.title.empty() ? page_title(run, kind) : options.title;
  const std::string header = page_header(run, content);
  write_file_atomic(path, [&](FileWriter& writer) {
    writer.write(page_head(escaped(content.title)));
    writer.write("<script type=\"application/json\" id=\"fovea-page\">" + header + "</script>\n");
    std::string thumbnails;
    for (const PageMap& map : maps) {
      for (const uint16_t share : map.encoded.thumbnail) {
        thumbnails += static_cast<char>(share & 0xff);
        thumbnails += static_cast<char>(share >> 8);
      }
    }
    writer.write(data_block("fovea-thumbnails", to_base64(as_bytes(thumbnails))));
    if (!content.picture.empty()) {
      writer.write(data_block("fovea-picture", to_base64(as_bytes(content.picture))));
    }
    for (const PageMap& map : maps)
      writer.write(data_block(fmt::format("fovea-map-{}-{}", map.site, map.head), map.base64));
    writer.write(fmt::format("<script>{}</script>\n</body>\n</html>\n", viewer_script()));
  });
}

}  // namespace fovea
