// Finds the areas of detected objects by attention, in every way there is.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/ask/detection_answer.h"
#include "fovea/explain/pictures/instance_mask.h"
#include "fovea/vision/label_mask.h"

namespace fovea {

enum class MaskSource {
  kEncoder,  // what the cell in the middle of the box attends to
  kCross,    // what the object's query attends to
  kHead,     // the model's own mask head
};

struct MaskMethod {
  MaskSource source = MaskSource::kEncoder;
  MaskRule rule;                 // not for kHead
  bool in_box = false;           // only what lies in the object's box
  std::optional<int64_t> layer;  // none: the last
  HeadChoice head;               // kAll is the mean
};

std::string_view key_of(MaskSource source);      // "encoder", "cross", "head"
std::string title_of(const MaskMethod& method);  // "encoder row, otsu, in the box"

// The sources that the model has: encoder and cross, and its mask head.
std::vector<MaskSource> mask_sources(const Engine& engine);

// One mask per object.
std::vector<PixelMask> object_masks(const DetectedObjects& found, const MaskMethod& method);

// Numbers the pixels: each is its object's number, or 0. Where masks overlap, the higher score
// wins. None if there are more objects than a byte can count.
std::optional<LabelMask> label_mask_of(const std::vector<PixelMask>& masks, PictureSize picture);

}  // namespace fovea
