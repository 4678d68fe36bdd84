#include "fovea/cli/gallery/items.h"

#include "fovea/cli/model_options.h"

namespace fovea {
namespace {

constexpr const char* kCat = "The cat sat on the mat because it was tired.";
constexpr const char* kAgreement =
    "The agreement on the European Economic Area was signed in August 1992.";
constexpr const char* kAccord =
    "L'accord sur l'Espace économique européen a été signé en août 1992.";
constexpr const char* kChase = "The FBI is chasing a criminal on the run.";

Chapter self_attention() {
  const std::string model(kDefaultTextModel);
  return {
      .title = "1 · Self-attention of a sentence",
      .lead =
          "Every word of the sentence decides how much it takes from every other. MiniLM, a "
          "small BERT, does that in 6 layers with 12 heads each.",
      .pictures =
          {{"1-heads.png",
            {"text", kCat, "--layer", "2"},
            "The twelve heads of layer 2 as small heatmaps with the words on both sides",
            model},
           {"1-head.png",
            {"text", kCat, "--layer", "2", "--head", "8", "--token", "it", "--view", "matrix"},
            "One head as a heatmap; the row of the word it is marked, its largest weight is on "
            "tired",
            model},
           {"1-page.html", {"text", kCat}, "Open all heads of all layers, to move through", model}},
      .see =
          "Each panel is one head; each of its cells is a weight between 0 (black) and the "
          "largest (pale yellow), on one scale for all.",
      .computed =
          "weight(i, j) = softmax over j of q_i · k_j / √d, with the queries and keys that the "
          "layer computed for this sentence.",
      .read =
          "A row is a word that looks, and sums to 1; a column is a word that is looked at, and "
          "sums to whatever it receives.",
      .limits =
          "A large weight means that a value was read, not that the model's answer depends on "
          "it. Many heads rest on [CLS] or [SEP] when they have nothing to do."};
}

Chapter reading() {
  const std::string model(kDefaultCausalModel);
  return {.title = "2 · Reading word by word",
          .lead =
              "A causal model sees only what came before. SmolLM2 reads the sentence; in every "
              "line the red word is the current one.",
          .pictures = {{"2-reading.png",
                        {"text", "-m", model, kChase, "--view", "reading", "--layer", "11",
                         "--head", "8", "--words"},
                        "The sentence written ten times, one word longer each time, earlier words "
                        "shaded by how much the current word attends to them",
                        model},
                       {"2-matrix.png",
                        {"text", "-m", model, kChase, "--view", "matrix", "--layer", "11", "--head",
                         "8", "--words"},
                        "The same weights as a triangle; what is not allowed is hatched",
                        model}},
          .see =
              "The darker a word, the more of the current word's attention it gets. Below, the "
              "same as a matrix: hatched cells lie in the future and are not allowed.",
          .computed =
              "As above, with a mask that forbids later words before the softmax. Pieces of "
              "one word are put together: columns are summed, rows averaged.",
          .read = "Line by line, left to right; each line is one row of the matrix.",
          .limits =
              "This is one head of 270. Others look at the first word only, which says little: a "
              "place to rest."};
}

Chapter steps() {
  const std::string model(kDefaultTextModel);
  return {
      .title = "3 a · From q, k and v to the weighted sum",
      .lead =
          "Where one row of the first picture comes from, with the numbers that the model "
          "had.",
      .pictures = {{"3-steps.png",
                    {"steps", kCat, "--token", "it", "--layer", "2", "--head", "8"},
                    "A chain of small matrices: query, keys, products, scores, softmax, values, "
                    "weighted sum, output",
                    model},
                   {"3-cosine.png",
                    {"steps", kCat, "--token", "it", "--layer", "2", "--head", "8", "--similarity",
                     "cosine"},
                    "The same query and keys compared by the cosine of their angle",
                    model}},
      .see =
          "Query and keys are compared number by number, summed to a score, scaled, turned "
          "into shares by softmax, and the values are mixed in these shares. The second chain "
          "compares the same vectors by their angle only: not what the model computed.",
      .computed =
          "In double precision from the captured q, k and v; it agrees with the map of the "
          "first picture.",
      .read = "Follow the arrows. Red is positive, blue negative, orange a share of one whole.",
      .limits =
          "The numbers of a single head mean little by themselves: the output adds all heads "
          "and what the layers before have left."};
}

Chapter addressing() {
  return {
      .title = "3 b · Hard and soft addressing",
      .lead =
          "Attention is a memory that is read by likeness. The colder it gets, the more it "
          "becomes a look-up of one entry.",
      .pictures = {{"3-warm.png",
                    {"steps", "--vectors", "examples/memory.json", "--temperature", "2"},
                    "Weights spread over several keys",
                    ""},
                   {"3-cool.png",
                    {"steps", "--vectors", "examples/memory.json", "--temperature", "0.5"},
                    "Weights gather on the nearest keys",
                    ""},
                   {"3-cold.png",
                    {"steps", "--vectors", "examples/memory.json", "--temperature", "0.05"},
                    "All weight on the nearest key, as in hard addressing",
                    ""},
                   {"3-additive.png",
                    {"steps", "--vectors", "examples/translation.json", "--similarity", "additive"},
                    "French words and English words compared by additive similarity",
                    ""}},
      .see =
          "Weather by the direction of the wind: the upper line takes the best key only, the "
          "lower one mixes. The last picture compares q and k by a small network instead: "
          "v · tanh(q Wa + k Ua), the first form of attention, with the weights that the file "
          "states.",
      .computed = "weight(j) = softmax of similarity(q, k_j) / T for T = 2, 0.5 and 0.05.",
      .read = "Columns are the keys of the memory, rows the ways of reading it.",
      .limits = "These vectors were made up to be followed by hand; no model is behind them.",
      .side_by_side = true};
}

Chapter translation() {
  const std::string model(kDefaultTranslationModel);
  return {
      .title = "4 · Translation",
      .lead =
          "A decoder writes French and looks back at the English while it does. That look, "
          "cross-attention, shows which word came from where.",
      .pictures = {{"4-alignment.png",
                    {"translate", kAgreement},
                    "English across, French down; the links run along the diagonal and turn back "
                    "at European Economic Area, Espace économique européen",
                    model},
                   {"4-steps.png",
                    {"steps", kAgreement, "--target", kAccord, "--site", "cross", "--layer", "0",
                     "--head", "4", "--token", "européen"},
                    "A chain of small matrices from the query of européen to the source words that "
                    "it looks at",
                    model},
                   {"4-page.html",
                    {"translate", kAgreement},
                    "Open encoder, decoder and cross-attention, to move through",
                    model}},
      .see =
          "Most words follow the order of the English. European Economic Area becomes Espace "
          "économique européen: the ringed links run backwards there.",
      .computed =
          "weight(i, j) = softmax over j of q_i · k_j / √d, with queries of the decoder and keys "
          "of "
          "the encoder. The head was chosen without knowing any right answer: its attention lies "
          "on tokens that belong together by themselves, and its links are the same read in "
          "either direction.",
      .read =
          "A row is a French word, a column an English one; a ring is the largest weight of its "
          "row. What a row lacks to 1 lies on the end of the sentence.",
      .limits =
          "One head of 24; most others do something else. The model is small (7.9 million "
          "parameters) and its links are wrong for about one in seven by the hand-made alignments "
          "of the Hansards (AER 14.7 %)."};
}

Chapter picture() {
  const std::string model(kDefaultPictureModel);
  constexpr const char* kScene = "models/scenes-vit/demo/scene-2.png";
  return {
      .title = "5 · A picture",
      .lead =
          "A Vision Transformer cuts a picture into patches and lets them attend to each other "
          "like words. This one was trained on synthetic scenes to name the objects in them.",
      .pictures = {{"5-heads.png",
                    {"image", kScene},
                    "The scene, and for each of six heads where the token [CLS] looks",
                    model},
                   {"5-row.png",
                    {"image", kScene, "--at", "128,48", "--head", "mean"},
                    "Where a patch of the bird looks",
                    model},
                   {"5-column.png",
                    {"image", kScene, "--at", "128,48", "--head", "mean", "--column"},
                    "Which patches look at that patch",
                    model},
                   {"5-mask.png",
                    {"image", kScene, "--mask", "0.6", "--head", "mean"},
                    "The patches that hold 60 % of the attention of [CLS]",
                    model}},
      .see =
          "The heads divide the work: some look at outlines, some at a few telling patches of "
          "one object.",
      .computed =
          "weight(i, j) = softmax over j of q_i · k_j / √d; [CLS] is the token from which the "
          "classes are read. The mask takes the largest weights until they make up 60 %.",
      .read =
          "One colour for each patch of 8 x 8 pixels. A row is where something looks and sums to "
          "1; a column is who looks at it, and sums to whatever it receives.",
      .limits =
          "A small model (3.7 million parameters) trained on synthetic scenes: it names what is "
          "present with F1 0.98 on held-out scenes, against 0.11 with random weights; its masks "
          "cover objects with a Jaccard of 0.33, against 0.10."};
}

Chapter detection() {
  const std::string model(kDefaultDetectionModel);
  constexpr const char* kScene = "models/scenes-detr/demo/scene-1.png";
  return {
      .title = "6 · Objects",
      .lead =
          "DETR finds objects by attention: cells of the picture attend to each other, then object "
          "queries attend to the cells. This one was trained on synthetic scenes.",
      .pictures = {{"6-objects.png",
                    {"detect", kScene},
                    "The scene with a box, a name and a score for each of six objects",
                    model},
                   {"6-points.png",
                    {"detect", kScene, "--view", "points"},
                    "The scene in the middle with four marked points; beside it what each attends "
                    "to, which is its own object",
                    model},
                   {"6-points-column.png",
                    {"detect", kScene, "--view", "points", "--column"},
                    "The same points: which cells attend to them",
                    model},
                   {"6-queries.png",
                    {"detect", kScene, "--view", "queries"},
                    "For each object what its query attends to, with its box",
                    model},
                   {"6-masks.png",
                    {"detect", kScene, "--masks", "--in-box"},
                    "Areas of the objects out of encoder rows and out of cross-attention",
                    model},
                   {"6-why.png",
                    {"detect", kScene, "--at", "250,300", "--to", "300,330"},
                    "One pair of cells: the score of each head split into content and position",
                    model}},
      .see =
          "A cell in the middle of an object attends to that object: the encoder has parted the "
          "objects before any box exists. The queries then read the parts that tell where an "
          "object "
          "ends. The last picture splits one score into what the cells hold and where they lie.",
      .computed =
          "weight(i, j) = softmax over j of q_i · k_j / √d, mean of six heads of the last layer. "
          "Areas are cut by Otsu's threshold on the cells and blended to pixels.",
      .read =
          "A row is where a point looks and sums to 1; a column is who looks at it, and its sum is "
          "told against uniform attention.",
      .limits =
          "A small model (7.1 million parameters) trained on synthetic scenes, whose encoder was "
          "also rewarded for looking at its own object. AP50 on 400 held-out scenes is 0.998; it "
          "knows drawings, not photographs of real things."};
}

Chapter convolution() {
  const std::string model(kDefaultPictureModel);
  constexpr const char* kScene = "models/scenes-vit/demo/scene-2.png";
  return {
      .title = "7 · Self-attention beside convolution",
      .lead =
          "A convolution looks at fixed offsets around each pixel. A head of attention may do the "
          "same, or look wherever the content tells it to. These pictures show which.",
      .pictures = {{"7-kernels.png",
                    {"image", kScene, "--view", "kernels", "--layer", "3"},
                    "Six heads of layer 3 as kernels over relative offsets, with the lines that "
                    "hold 50 % and 90 % of each",
                    model},
                   {"7-convolution.png",
                    {"image", kScene, "--view", "convolution"},
                    "Nine heads built by hand, each of which looks at one of nine neighbours",
                    model},
                   {"7-distances.png",
                    {"image", kScene, "--view", "distances"},
                    "Dots: how far each head of each layer looks on average, beside attention that "
                    "is spread evenly",
                    model},
                   {"7-field.png",
                    {"image", kScene, "--view", "field", "--at", "128,48"},
                    "What reaches a patch of the bird through one layer, through two, and so on",
                    model},
                   {"7-composite.png",
                    {"image", kScene, "--view", "composite"},
                    "The scene with the patches that [CLS] looks at in one colour per head",
                    model}},
      .see =
          "Heads of the middle layers look around themselves, a blob with its peak near the "
          "middle; "
          "later ones look everywhere. The nine built heads look at one neighbour each: together "
          "they are a 3 x 3 convolution. Rings show how far a patch has seen after each layer.",
      .computed =
          "Kernel: the mean over patches of the weight on the patch at each offset, rows divided "
          "by "
          "what they give to patches. Distance: the same weights times the distance in pixels. "
          "Field: attention rollout, half the mean of heads and half the residual in each layer.",
      .read =
          "A kernel's middle is the patch that looks, a cell to its right the patch one further "
          "right. The solid line holds half of the weight, the dotted one nine tenths.",
      .limits =
          "A blob that is wider than the window is cut off: the share inside says how much was "
          "seen. Rollout knows nothing of values and feed-forward layers. A small model trained on "
          "synthetic scenes, one picture."};
}

Chapter large_map() {
  const std::string model(kDefaultDetectionModel);
  constexpr const char* kScene = "models/scenes-detr/demo/scene-5.png";
  return {
      .title = "8 · One map of 16,384 cells",
      .lead =
          "The same model at 2048 x 2048 pixels: its encoder has 16,384 cells and each head a map "
          "of 268 million weights, of which none is stored.",
      .pictures = {{"8-overview.png",
                    {"detect", kScene, "--size", "2048x2048", "--view", "matrix", "--layer", "3",
                     "--head", "2"},
                    "The whole map: bright columns are cells that many look at, faint diagonals a "
                    "cell and its neighbours",
                    model},
                   {"8-part.png",
                    {"detect", kScene, "--size", "2048x2048", "--layer", "3", "--head", "2",
                     "--rows", "8000:8256", "--cols", "8000:8256"},
                    "256 x 256 cells of it, each exact",
                    model},
                   {"8-row.png",
                    {"detect", kScene, "--size", "2048x2048", "--layer", "3", "--head", "2", "--at",
                     "320,256"},
                    "A single row of it, laid over the picture",
                    model}},
      .see =
          "From the overview, in which each point is the largest weight of 8 x 8, to a part cell "
          "by "
          "cell, to the row of one cell over the picture.",
      .computed =
          "From the queries and keys of the run, tile by tile; the memory is that of the model's "
          "run, not of its maps.",
      .read = "Cells are counted row by row, so a neighbour above is 128 columns away.",
      .limits =
          "The model was trained on pictures of 384 x 480; at this size its objects are far larger "
          "than it has seen, so its boxes say little here."};
}

}  // namespace

std::vector<Chapter> gallery_chapters() {
  return {self_attention(), reading(),   steps(),       addressing(), translation(),
          picture(),        detection(), convolution(), large_map()};
}

}  // namespace fovea
