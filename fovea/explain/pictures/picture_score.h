// Scores masks and boxes against true ones: masks by the Jaccard index (DINO's protocol on VOC),
// boxes by CorLoc (LOST, TokenCut).
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace fovea {

// The Jaccard index |A n B| / |A u B| of one mask with every object of a picture; 1 if both are
// empty. The mask has a byte per pixel, 0 or not. `labels` has an object's number per pixel, 0 for
// the background. Entry k is for object k, entry 0 for all objects together. Throws
// Error{kInvalidArgument} unless the sizes are the same.
std::array<double, 256> jaccard_of_objects(std::span<const uint8_t> mask,
                                           std::span<const uint8_t> labels);

// A box in pixels. Right and bottom are just outside.
struct PictureBox {
  double left = 0;
  double top = 0;
  double right = 0;
  double bottom = 0;

  double area() const;  // 0 where nothing is inside
  bool operator==(const PictureBox&) const = default;
};
// The area of the intersection divided by that of the union; 0 if both are empty.
double iou(const PictureBox& a, const PictureBox& b);

// Scores masks of many pictures: the mean over pictures of the mean over each picture's true
// objects. If a picture has several masks (one per head), the caller gives the best per object, or
// the chosen one.
struct MaskScore {
  int64_t pictures = 0;  // pictures that have objects
  int64_t objects = 0;
  double sum = 0;  // sum of the pictures' means

  // Adds a picture: the Jaccard index of each true object. A picture without objects does not
  // count.
  void add(std::span<const double> jaccards);
  double mean() const;  // 0 without pictures
};

// Scores one predicted box per picture. It is correct if its IoU with any true box is at least
// `threshold`.
struct BoxScore {
  double threshold = 0.5;
  int64_t pictures = 0;  // pictures that have true boxes
  int64_t correct = 0;
  double iou_sum = 0;  // sum of each picture's best IoU

  void add(const PictureBox& predicted, std::span<const PictureBox> truth);
  double corloc() const;    // share that is correct; 0 without pictures
  double mean_iou() const;  // 0 without pictures
};

}  // namespace fovea
