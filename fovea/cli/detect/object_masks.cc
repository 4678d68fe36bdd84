#include "fovea/cli/detect/object_masks.h"

#include <fmt/format.h>

#include <algorithm>

#include "fovea/atlas/merged_map.h"
#include "fovea/base/error.h"

namespace fovea {
namespace {

PixelMask mask_from_head(const DetectRun& run, int64_t query) {
  const Tensor& logits = run.result.outputs.pred_masks.tensor;
  const GridShape grid{logits.size(1), logits.size(2)};
  const auto values = logits.values<float>().subspan(static_cast<size_t>(query * grid.patches()),
                                                     static_cast<size_t>(grid.patches()));
  // As much of the mask lies over the picture as of the cells.
  const GridCover cells = cover_of(run.input);
  const GridCover cover{
      cells.rows / static_cast<double>(run.grid().rows) * static_cast<double>(grid.rows),
      cells.cols / static_cast<double>(run.grid().cols) * static_cast<double>(grid.cols)};
  return mask_of_logits(grid, std::vector<double>(values.begin(), values.end()), cover,
                        run.input.picture.width, run.input.picture.height);
}

}  // namespace

std::string_view key_of(MaskSource source) {
  return source == MaskSource::kEncoder ? "encoder"
         : source == MaskSource::kCross ? "cross"
                                        : "head";
}

std::string title_of(const MaskMethod& method) {
  std::string text = method.source == MaskSource::kEncoder ? "encoder row of the middle"
                     : method.source == MaskSource::kCross ? "cross-attention of the query"
                                                           : "mask head";
  if (method.source != MaskSource::kHead) text += ", " + to_string(method.rule);
  if (method.in_box) text += ", in the box";
  return text;
}

std::vector<MaskSource> mask_sources(const Engine& engine) {
  if (engine.facts().has_mask_head()) {
    return {MaskSource::kHead, MaskSource::kEncoder, MaskSource::kCross};
  }
  return {MaskSource::kEncoder, MaskSource::kCross};
}

std::vector<MaskSource> chosen_mask_sources(const Args& args, const Engine& engine) {
  std::vector<MaskSource> sources = mask_sources(engine);
  if (!args.has("mask-from")) return sources;
  std::erase_if(sources, [&](MaskSource source) { return key_of(source) != args["mask-from"]; });
  if (!sources.empty()) return sources;
  fail(ErrorKind::kUnsupported, "{} has no mask head; take masks from encoder or cross-attention",
       engine.name());
}

std::vector<PixelMask> object_masks(const DetectRun& run, const MaskMethod& method) {
  const bool from_head = method.source == MaskSource::kHead;
  std::shared_ptr<const AttentionRecord> record;
  HeadChoice head;
  if (!from_head) {
    const bool encoder = method.source == MaskSource::kEncoder;
    record = record_for(run, encoder ? SiteKind::kEncoderSelf : SiteKind::kCross);
    head = single_map(method.head, *record);
  }
  std::vector<PixelMask> masks;
  for (const DetectedObject& object : run.objects) {
    PixelMask mask;
    if (from_head) {
      mask = mask_from_head(run, object.query);
    } else {
      const int64_t row =
          method.source == MaskSource::kEncoder ? centre_cell(run, object.box) : object.query;
      const GridMask cells =
          cut_weights(run.grid(), line_of(record, row, head, false), method.rule);
      mask =
          to_pixels(cells, cover_of(run.input), run.input.picture.width, run.input.picture.height);
    }
    masks.push_back(method.in_box ? within(std::move(mask), object.box) : std::move(mask));
  }
  return masks;
}

LabelMask label_mask_of(const std::vector<PixelMask>& masks, PictureSize picture) {
  if (masks.size() > 255) {
    fail(ErrorKind::kUnsupported,
         "{} objects do not fit into a mask of bytes, which holds 255; give a higher --threshold",
         masks.size());
  }
  LabelMask labels(picture);
  for (size_t m = masks.size(); m-- > 0;) {
    for (size_t i = 0; i < labels.labels.size(); ++i) {
      if (masks[m].pixels[i] != 0) labels.labels[i] = static_cast<uint8_t>(m + 1);
    }
  }
  return labels;
}

}  // namespace fovea
