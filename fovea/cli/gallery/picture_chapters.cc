// Chapters 5 to 8: a picture, objects, convolution, one large map.
#include "fovea/cli/gallery/items.h"
#include "fovea/cli/model_options.h"

namespace fovea {
namespace {

constexpr const char* kAnimals = "models/scenes-vit/demo/scene-2.png";
constexpr const char* kFarm = "models/scenes-detr/demo/scene-1.png";
constexpr const char* kStream = "models/scenes-detr/demo/scene-5.png";

constexpr const char* kScenesVit =
    "scenes-vit, made for fovea: 3.7 million parameters, trained on synthetic scenes, drawings on "
    "photographs, to name what is in them. On 80 held-out scenes it does so with F1 0.979, against "
    "0.11 with random weights; its 60 % masks cover the objects with a Jaccard index of 0.325, "
    "against 0.100.";
constexpr const char* kScenesDetr =
    "scenes-detr, made for fovea: 7.1 million parameters, trained on synthetic scenes, drawings on "
    "photographs; its encoder was also rewarded for looking at its own object. On 400 held-out "
    "scenes AP50 is 0.998; on the six demo scenes it is 1.000, with random weights 0.000. It knows "
    "drawings, not photographs of real things.";

Chapter picture() {
  const std::string model(kDefaultPictureModel);
  return {
      .id = "picture",
      .title = "A picture as a text of patches",
      .face = "5-mask.png",
      .point = "28 × 28 patches attend like words",
      .lead = {"A Vision Transformer cuts a picture into small squares, patches, and treats them "
               "like the words of a sentence. One extra token, [CLS], gathers what the answer is "
               "read from. Where does it look?"},
      .pictures =
          {{"5-heads.png",
            {"image", kAnimals},
            "From [CLS], in each of six heads. They divide the work: head 4 takes the bird, head 0 "
            "the giraffe, head 3 the zebra. The line goes around half of a head’s attention.",
            "The scene with elephants, zebra, giraffe and bird, and for each of six heads the "
            "patches that [CLS] looks at",
            model},
           {"5-row.png",
            {"image", kAnimals, "--at", "128,48", "--layer", "2", "--head", "mean"},
            "A row: where one patch of the bird (framed) looks. In this early layer that is the "
            "rest of the bird.",
            "The patches that a patch of the bird looks at; most lie on the bird",
            model,
            PictureWidth::kHalf},
           {"5-column.png",
            {"image", kAnimals, "--at", "128,48", "--layer", "2", "--head", "mean", "--column"},
            "A column: which patches look at it. Not the same question, and not the same answer.",
            "The patches that look at that patch of the bird",
            model,
            PictureWidth::kHalf},
           {"5-mask.png",
            {"image", kAnimals, "--mask", "0.6", "--head", "mean"},
            "The fewest patches that hold 60 % of what [CLS] gives. Most of them lie on objects.",
            "The scene darkened except for patches on bird, giraffe, zebra and the edges of the "
            "elephants",
            model}},
      .computed =
          "weight(i, j) = softmax over j of q(i) · k(j) / √d, as for words. The mask takes the "
          "largest weights until they make up 60 %.",
      .read =
          "One colour for each patch of 8 × 8 pixels. A row is where something looks and sums to "
          "1; a column is who looks at it and sums to whatever it receives.",
      .limits =
          "Attention lies on outlines and a few telling patches, not evenly on objects: the "
          "elephants get little of it and are named all the same.",
      .model = kScenesVit};
}

std::vector<GalleryPicture> detection_pictures(const std::string& model) {
  return {{"6-objects.png",
           {"detect", kFarm},
           "What the model answers: a box, a name and a probability for each object.",
           "The scene with a box, a name and a score for house, tree, cow, person, horse and sheep",
           model},
          {"6-points.png",
           {"detect", kFarm, "--view", "points"},
           "Rows: where four points look. A point on the tree looks at the tree, a point on the "
           "cow at the cow. The objects are told apart before any box exists.",
           "The scene in the middle with four marked points; around it what each attends to, which "
           "is its own object",
           model},
          {"6-points-column.png",
           {"detect", kFarm, "--view", "points", "--column"},
           "Columns: who looks at these points. Whole objects light up, and a little around them.",
           "The same four points, with the cells that attend to them, which cover their objects",
           model},
          {"6-queries.png",
           {"detect", kFarm, "--view", "queries"},
           "Then object queries, free slots that each may report one object, look at the picture. "
           "Each is shown with the box that it reported.",
           "Six panels: for each object what its query attends to, with its box",
           model},
          {"6-masks.png",
           {"detect", kFarm, "--masks", "--in-box"},
           "Areas cut out of attention: on the left from the row of the object’s middle, on the "
           "right from its query. They show the core of an object rather than its edge.",
           "The scene twice with coloured areas on the objects, larger on the left",
           model},
          {"6-why.png",
           {"detect", kFarm, "--at", "250,300", "--to", "300,330"},
           "Why one point of the horse looks at another: in each head the score is a sum of four "
           "terms, what the two cells hold (c) and where they lie (p).",
           "A table of scores split into content and position for each of six heads, the weights, "
           "and the largest products of head 4",
           model}};
}

Chapter detection() {
  return {
      .id = "objects",
      .title = "Finding objects",
      .face = "6-points.png",
      .point = "objects are told apart by attention",
      .lead = {"DETR finds objects by attention alone. First the cells of the picture attend to "
               "each other (the encoder), then a handful of object queries attend to the cells "
               "(the decoder), and each query reports a box."},
      .pictures = detection_pictures(std::string(kDefaultDetectionModel)),
      .computed =
          "weight(i, j) = softmax over j of q(i) · k(j) / √d, mean of the six heads of the last "
          "layer. Areas are cut by Otsu’s threshold on the cells and blended to pixels. In the "
          "last picture q = content + position and k likewise, so their product has four parts.",
      .read =
          "A row is where a point looks and sums to 1. A column is who looks at it; its sum is "
          "told beside what uniform attention would give. The line goes around half of the mass.",
      .limits =
          "A map shows the core of an object rather than its outline, and most of a large object "
          "may be left out.",
      .model = kScenesDetr};
}

Chapter convolution() {
  const std::string model(kDefaultPictureModel);
  return {
      .id = "convolution",
      .title = "Attention beside convolution",
      .face = "7-kernels.png",
      .point = "fixed neighbours, or wherever the content leads",
      .lead = {"Before transformers, networks for pictures were built of convolutions: each pixel "
               "looks at a fixed window around it. A head of attention may do the same, or look "
               "wherever the content tells it to. These pictures show which."},
      .pictures =
          {{"7-kernels.png",
            {"image", kAnimals, "--view", "kernels", "--layer", "3"},
            "Six heads as kernels: the average look of all patches, by direction and distance. "
            "Half of the weight lies inside the solid line, nine tenths inside the dotted one.",
            "Six heads of layer 3 as kernels over relative offsets, most with a peak near the "
            "middle, with lines that hold 50 % and 90 % of each",
            model},
           {"7-convolution.png",
            {"image", kAnimals, "--view", "convolution"},
            "Nine heads built by hand, each looking at one of the nine nearest pixels: together "
            "they are a 3 × 3 convolution. So attention can do all that a convolution can.",
            "Nine black squares with one bright cell each, at the nine offsets around the middle",
            model,
            PictureWidth::kHalf},
           {"7-composite.png",
            {"image", kAnimals, "--view", "composite"},
            "The other extreme: the last layer’s heads follow content. Each patch has the colour "
            "of the head that gives it most.",
            "The scene in grey with patches on the objects in one colour per head",
            model,
            PictureWidth::kHalf},
           {"7-distances.png",
            {"image", kAnimals, "--view", "distances"},
            "How far each head of each layer looks. The middle layers look nearer than chance (the "
            "dashed line), the last ones everywhere.",
            "Dots for six heads in eight layers between 70 and 120 pixels, lowest in layer 3, with "
            "a dashed line at 117 for attention that is spread evenly",
            model},
           {"7-field.png",
            {"image", kAnimals, "--view", "field", "--at", "128,48"},
            "The receptive field: what has reached one patch of the bird after one layer, two, and "
            "so on. Half of it comes from inside the solid ring, nine tenths from inside the "
            "dashed one.",
            "Eight panels with rings around a patch of the bird that grow from layer to layer",
            model}},
      .computed =
          "Kernel: the mean over patches of the weight on the patch at each offset, rows divided "
          "by what they give to patches. Distance: the same weights times the distance in pixels. "
          "Field: attention rollout, in each layer half the mean of heads and half the residual.",
      .read =
          "The middle of a kernel is the patch that looks; a cell to its right is the patch one "
          "further right.",
      .limits =
          "A kernel that is wider than the window is cut off; the share inside says how much was "
          "seen. Rollout knows nothing of values and feed-forward layers. One picture, one small "
          "model.",
      .model = kScenesVit};
}

Chapter large_map() {
  const std::string model(kDefaultDetectionModel);
  const std::vector<std::string> run = {"detect",  kStream, "--size", "2048x2048",
                                        "--layer", "3",     "--head", "2"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), run.begin(), run.end());
    return more;
  };
  return {
      .id = "large",
      .title = "268 million weights, and one of them",
      .face = "8-part.png",
      .point = "from the overview of 16,384 cells to a single one",
      .lead = {"The same detector at 2048 × 2048 pixels has 16,384 cells, and each head a map of "
               "16,384 × 16,384 weights. No such map is ever stored: fovea keeps queries, keys and "
               "one number per row, and computes whichever part one looks at, exactly."},
      .pictures =
          {{"8-overview.png", with({"--view", "matrix"}),
            "The whole map. Each point is the largest of 8 × 8 weights. Bright columns are cells "
            "that many others look at; faint diagonals are cells that look around themselves.",
            "The whole map, dark with bright columns and faint diagonals", model},
           {"8-part.png", with({"--rows", "8000:8256", "--cols", "8000:8256"}),
            "256 × 256 of them, every weight exact. Two lines of the picture follow each other, so "
            "the pattern repeats.",
            "A part of the map in which two bright bars repeat", model, PictureWidth::kHalf},
           {"8-cells.png", with({"--rows", "8196:8204", "--cols", "8216:8224"}),
            "8 × 8 of those, with their numbers: single cells.",
            "64 cells with their weights written into them; four columns are bright", model,
            PictureWidth::kHalf},
           {"8-row.png", with({"--at", "320,256"}),
            "One row of the map, laid over the picture: where the framed cell on the cat looks.",
            "The scene beside the same scene with one row of the map over it; bright behind the "
            "cat’s head and on the butterfly",
            model}},
      .computed =
          "From the queries and keys of the run, tile by tile; the memory is that of the model’s "
          "run, not of its maps.",
      .read =
          "Cells are counted line by line of the picture, so a neighbour above is 128 columns "
          "away. Every row sums to 1.",
      .limits =
          "The model was trained on pictures of 384 × 480; at this size objects are far larger "
          "than "
          "any it has seen, so its boxes say little here.",
      .model = kScenesDetr};
}

}  // namespace

std::vector<Chapter> picture_chapters() {
  return {picture(), detection(), convolution(), large_map()};
}

}  // namespace fovea
