// Areas of detected objects out of attention, by every way there is.
#pragma once

#include <string>
#include <vector>

#include "fovea/cli/detect/view.h"
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
  MaskRule rule;        // not of kHead
  bool in_box = false;  // only what lies in the object's box
  HeadChoice head;      // kAll is the mean
};

std::string_view key_of(MaskSource source);      // "encoder", "cross", "head"
std::string title_of(const MaskMethod& method);  // "encoder row, otsu, in the box"

// Those that the model has: encoder and cross, and its mask head.
std::vector<MaskSource> mask_sources(const Engine& engine);
// --mask-from, or all of these. Throws Error{kUnsupported} if the model has no mask head.
std::vector<MaskSource> chosen_mask_sources(const Args& args, const Engine& engine);

// One mask per object, from --layer or the last.
std::vector<PixelMask> object_masks(const DetectRun& run, const MaskMethod& method);

// Pixel = object number, 0 where no object is; where masks overlap, the higher score wins. Throws
// Error{kUnsupported} if there are more than 255.
LabelMask label_mask_of(const std::vector<PixelMask>& masks, PictureSize picture);

}  // namespace fovea
