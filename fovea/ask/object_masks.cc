#include "fovea/ask/object_masks.h"

#include "fovea/atlas/merged_map.h"

namespace fovea {
namespace {

PixelMask mask_from_head(const DetectedObjects& found, int64_t query) {
  const Tensor& logits = found.result().outputs.pred_masks.tensor;
  const GridShape grid{logits.size(1), logits.size(2)};
  const auto values = logits.values<float>().subspan(static_cast<size_t>(query * grid.patches()),
                                                     static_cast<size_t>(grid.patches()));
  // As much of the mask lies over the picture as of the cells.
  const GridCover cells = cover_of(found.input());
  const GridCover cover{
      cells.rows / static_cast<double>(found.grid().rows) * static_cast<double>(grid.rows),
      cells.cols / static_cast<double>(found.grid().cols) * static_cast<double>(grid.cols)};
  return mask_of_logits(grid, std::vector<double>(values.begin(), values.end()), cover,
                        found.picture().width, found.picture().height);
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

std::vector<PixelMask> object_masks(const DetectedObjects& found, const MaskMethod& method) {
  const bool from_head = method.source == MaskSource::kHead;
  const bool encoder = method.source == MaskSource::kEncoder;
  RecordPointer record;
  HeadChoice head;
  if (!from_head) {
    record = found.record(encoder ? SiteKind::kEncoderSelf : SiteKind::kCross, method.layer);
    head = single_map(method.head, *record);
  }
  const auto [width, height] = found.picture();
  std::vector<PixelMask> masks;
  for (const DetectedObject& object : found.objects()) {
    PixelMask mask;
    if (from_head) {
      mask = mask_from_head(found, object.query);
    } else {
      const int64_t row = encoder ? found.scene().centre_cell(object) : object.query;
      const GridMask cells =
          cut_weights(found.grid(), line_of(record, row, head, false), method.rule);
      mask = to_pixels(cells, cover_of(found.input()), width, height);
    }
    masks.push_back(method.in_box ? within(std::move(mask), object.box) : std::move(mask));
  }
  return masks;
}

std::optional<LabelMask> label_mask_of(const std::vector<PixelMask>& masks, PictureSize picture) {
  if (masks.size() > 255) return {};
  LabelMask labels(picture);
  for (size_t m = masks.size(); m-- > 0;) {
    for (size_t i = 0; i < labels.labels.size(); ++i) {
      if (masks[m].pixels[i] != 0) labels.labels[i] = static_cast<uint8_t>(m + 1);
    }
  }
  return labels;
}

}  // namespace fovea
