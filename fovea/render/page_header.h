// The JSON at the head of a page: what it holds, how it is encoded, and what everything is called.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fovea/capture/run.h"
#include "fovea/figure/view.h"

namespace fovea {

// The maps of one record.
struct PageSite {
  std::shared_ptr<const AttentionRecord> record;
  std::vector<int64_t> heads;
  int64_t cells = 0;  // cells that the mask allows, per head
  int64_t levels = 0;
  std::vector<double> largest;  // one per head
};

// Where the page opens.
struct PageStart {
  size_t site = 0;
  std::string head;                    // "mean" or "max"; empty: a number
  std::optional<int64_t> head_number;  // none: the first
  std::string view = "matrix";
  std::string colors;  // empty: what suits the view
  std::optional<int64_t> token;
  bool column = false;
  // None: as suits the map.
  std::optional<MapValue> of;
  std::optional<ScaleCurve> curve;
  std::optional<ColorRange> range;
};

struct PageContent {
  std::string title;
  std::vector<PageSite> sites;
  PageStart start;
  std::string picture;  // what lies under the grids, a PNG; empty: none
};

// "tiny-bert · self-attention".
std::string page_title(const Run& run, SiteKind kind);

// One line without '<', so that it can stand in a script element.
std::string page_header(const Run& run, const PageContent& content);

}  // namespace fovea
