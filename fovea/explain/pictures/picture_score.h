// How good masks and boxes are against true ones: the Jaccard index of masks (DINO's protocol on
// VOC) and CorLoc of boxes (LOST, TokenCut).
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace fovea {

// The Jaccard index |A n B| / |A u B|, 1 if both are empty, of one mask of a byte per pixel, 0 or
// not, with every object of a picture of object numbers, 0 the background: entry k is with object
// k, entry 0 with all objects together. Throws Error{kInvalidArgument} unless the sizes are the
// same.
std::array<double, 256> jaccard_of_objects(std::span<const uint8_t> mask,
                                           std::span<const uint8_t> labels);

// In pixels; right and bottom are just outside.
struct PictureBox {
  double left = 0;
  double top = 0;
  double right = 0;
  double bottom = 0;

  double area() const;  // 0 where nothing is inside
  bool operator==(const PictureBox&) const = default;
};
// Area of the intersection over area of the union; 0 if both are empty.
double iou(const PictureBox& a, const PictureBox& b);

// Masks of many pictures: the mean over pictures of the mean over a picture's true objects. Where a
// picture has several masks (one per head) the caller gives the best per object, or the one chosen.
struct MaskScore {
  int64_t pictures = 0;  // that have objects
  int64_t objects = 0;
  double sum = 0;  // of the pictures' means

  // The Jaccard index of each true object of one picture; a picture without objects is not counted.
  void add(std::span<const double> jaccards);
  double mean() const;  // 0 without pictures
};

// One predicted box per picture. It is correct if its IoU with any true box is at least
// `threshold`.
struct BoxScore {
  double threshold = 0.5;
  int64_t pictures = 0;  // that have true boxes
  int64_t correct = 0;
  double iou_sum = 0;  // of the best IoU of each picture

  void add(const PictureBox& predicted, std::span<const PictureBox> truth);
  double corloc() const;    // share that is correct; 0 without pictures
  double mean_iou() const;  // 0 without pictures
};

}  // namespace fovea
