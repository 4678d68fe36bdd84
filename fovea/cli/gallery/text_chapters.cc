// Chapters 1 to 4: a sentence, reading, the steps of one weight, translation.
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
constexpr const char* kMiniLm =
    "all-MiniLM-L6-v2, a small BERT that others trained to compare sentences: 6 layers of 12 "
    "heads, 22.7 million parameters. fovea fetches it; nothing in it was changed.";

Chapter self_attention() {
  const std::string model(kDefaultTextModel);
  return {.id = "sentence",
          .title = "A sentence looks at itself",
          .face = "1-head.png",
          .point = "every word takes something from every other",
          .lead = {"“The cat sat on the mat because it was tired.” To make sense of “it”, a "
                   "reader has to connect it with other words. A transformer does that for every "
                   "word at once: each word hands out shares of its attention, and receives that "
                   "much from the words it looks at. Because the sentence looks at itself, this "
                   "is called self-attention."},
          .pictures =
              {{"1-heads.png",
                {"text", kCat, "--layer", "2"},
                "Twelve heads of one layer, all on one scale. Each divides its attention in its "
                "own way: head 11 looks at the word before; head 8 looks ahead, “the” at “mat”, "
                "“it” at “tired”; and several put nearly everything on [CLS], a mark at the start "
                "that stands for no word.",
                "The twelve heads of layer 2 as small heatmaps with the words on both sides; some "
                "are bright along a diagonal, others in the first column",
                model},
               {"1-head.png",
                {"text", kCat, "--layer", "2", "--head", "8", "--token", "it", "--view", "matrix"},
                "One of them, head 8, large. The row of “it” is framed: three quarters of its "
                "attention lie on “tired”.",
                "Head 8 as a heatmap; the row of the word it is framed, and its brightest cell is "
                "in the column of tired",
                model},
               {"1-page.html",
                {"text", kCat},
                "All 72 heads on one page that can be sent to a friend; it needs no network.",
                "Open every head of every layer",
                model}},
          .computed =
              "weight(i, j) = softmax over j of q(i) · k(j) / √d, with the queries q and keys k "
              "that the layer computed for this sentence. Chapter 3 walks through it.",
          .read =
              "A row is a word that looks, and sums to 1. A column is a word that is looked at, "
              "and sums to whatever it receives. Black is 0, pale yellow the largest weight.",
          .limits =
              "A large weight means that a value was read, not that the model’s answer depends on "
              "it. Heads that have nothing to do in a sentence rest on [CLS] or [SEP].",
          .model = kMiniLm};
}

Chapter reading() {
  const std::string model(kDefaultCausalModel);
  return {.id = "reading",
          .title = "Reading word by word",
          .face = "2-reading.png",
          .point = "a model that writes sees only what came before",
          .lead = {"Models that write text read from left to right: while they work on one word, "
                   "the later ones do not exist yet. So one can watch such a model read."},
          .pictures = {{"2-reading.png",
                        {"text", "-m", model, kChase, "--view", "reading", "--layer", "11",
                         "--head", "8", "--words"},
                        "Each line is one moment. The red word is the current one; the darker an "
                        "earlier word, the more of the attention it gets. In this head “the” "
                        "looks back to “FBI”.",
                        "The sentence written ten times, one word longer each time; earlier words "
                        "are shaded by how much the current, red word attends to them",
                        model,
                        PictureWidth::kHalf},
                       {"2-matrix.png",
                        {"text", "-m", model, kChase, "--view", "matrix", "--layer", "11", "--head",
                         "8", "--words"},
                        "The same numbers as a matrix: each line above is a row here. Hatched "
                        "cells lie in the future, where looking is not allowed.",
                        "The same weights as a triangle of numbers; the upper right half is "
                        "hatched",
                        model,
                        PictureWidth::kHalf}},
          .computed =
              "As in chapter 1, with a mask that forbids later words before the softmax. Pieces of "
              "one word are put together: columns are summed, rows averaged.",
          .read = "Line by line, left to right. Every row sums to 1, the word itself included.",
          .limits =
              "This is one head of 270. Many others look at the first word whatever the text, "
              "which says little: a place to rest.",
          .model =
              "SmolLM2-135M-Instruct, which others trained to write and to answer: 30 layers of 9 "
              "heads, 135 million parameters, stored in about 5 bits each. fovea fetches it."};
}

std::vector<GalleryPicture> addressing_pictures() {
  return {{"3-warm.png",
           {"steps", "--vectors", "examples/memory.json", "--temperature", "2"},
           "Temperature 2: soft. Every entry of the memory gets a share.",
           "Two rows of four weights: hard takes east only, soft is spread over four keys",
           "",
           PictureWidth::kThird},
          {"3-cool.png",
           {"steps", "--vectors", "examples/memory.json", "--temperature", "0.5"},
           "Temperature 0.5: the nearest entries win.",
           "Two rows of four weights: hard takes east only, soft lies on east and north",
           "",
           PictureWidth::kThird},
          {"3-cold.png",
           {"steps", "--vectors", "examples/memory.json", "--temperature", "0.05"},
           "Temperature 0.05: nearly all on one entry. At 0 soft is hard.",
           "Two rows of four weights that are nearly the same: all on east",
           "",
           PictureWidth::kThird},
          {"3-additive.png",
           {"steps", "--vectors", "examples/translation.json", "--similarity", "additive"},
           "The first form of attention (2014) compared q and k by a small network, v · tanh(q Wa "
           "+ k Ua). Here with weights that one can check by hand: Wa is 0.2 and Ua 1 on the "
           "diagonal, v is (−6, −6, −6). The word <pad> only fills the line and may not be looked "
           "at.",
           "Three French words down, three English words across; chat lies on cat and noir on "
           "black",
           ""}};
}

Chapter steps() {
  const std::string model(kDefaultTextModel);
  Chapter chapter{
      .id = "steps",
      .title = "Where a weight comes from",
      .face = "3-steps.png",
      .point = "compare, scale, share out, mix",
      .lead =
          {"Attention is a memory that is read by likeness. Every word has three lists of numbers: "
           "a query (what it asks for), a key (what it can be found by) and a value (what it "
           "passes "
           "on). The query of one word is compared with the keys of all, the likeness becomes "
           "shares, and the values are mixed in these shares.",
           "Looking up a word in a dictionary takes one entry and ignores the rest: hard "
           "addressing. Attention is soft: it takes a little of everything, more of what fits "
           "better. A temperature decides how soft."},
      .pictures = {{"3-steps.png",
                    {"steps", kCat, "--token", "it", "--layer", "2", "--head", "8"},
                    "The framed row of chapter 1, number by number. Red is positive, blue "
                    "negative; in step 6 the colour is a share of the whole.",
                    "A chain of nine small tables: query, keys, products, scores, scaled, softmax, "
                    "values, weighted sum, output",
                    model},
                   {"3-similarities.png",
                    {"steps", kCat, "--token", "it", "--layer", "2", "--head", "8", "--similarity",
                     "all"},
                    "The same query and keys compared in other ways. Without scaling, one word "
                    "takes all; by the angle alone (cosine), hardly any word stands out. Only the "
                    "first row is what the model computed.",
                    "Three rows of weights over the words: the model’s own rule, the plain dot "
                    "product with nearly 1 on tired, and the cosine, nearly even",
                    model}},
      .computed =
          "In double precision from the q, k and v of the run; the result is held against the map "
          "of the fast code. Softmax: exp(score) divided by the sum of all exp(score). Temperature "
          "divides the scores before that.",
      .read =
          "Follow the arrows, line by line. In the small tables rows are what asks, columns what "
          "is looked at; each row sums to 1.",
      .limits =
          "The numbers of one head mean little by themselves: the output adds all heads to what "
          "the layers before have left. The weather and the French words are made-up vectors; no "
          "model is behind them.",
      .model = kMiniLm};
  for (GalleryPicture& picture : addressing_pictures()) {
    chapter.pictures.push_back(std::move(picture));
  }
  return chapter;
}

Chapter translation() {
  const std::string model(kDefaultTranslationModel);
  return {
      .id = "translation",
      .title = "Which word came from where",
      .face = "4-alignment.png",
      .point = "cross-attention ties two sentences together",
      .lead = {"A translator has two parts: one reads the English, the other writes the French. "
               "While writing, it looks back at the English. That look from one sentence to "
               "another is cross-attention, and it shows which word came from where."},
      .pictures =
          {{"4-alignment.png",
            {"translate", kAgreement},
            "English across, French down. Most words keep their order; at “European Economic "
            "Area”, “Espace économique européen”, it turns round and the ringed links run "
            "backwards.",
            "English across, French down; rings follow the diagonal and run backwards at European "
            "Economic Area, Espace économique européen",
            model},
           {"4-steps.png",
            {"steps", kAgreement, "--target", kAccord, "--site", "cross", "--layer", "0", "--head",
             "4", "--token", "européen"},
            "The row of “européen”, number by number: the query comes from the French, keys and "
            "values from the English.",
            "A chain of nine small tables from the query of européen to European, which has 0.97 "
            "of the weight",
            model},
           {"4-page.html",
            {"translate", kAgreement},
            "Encoder, decoder and cross-attention, all heads, on one page.",
            "Open every map of this translation",
            model}},
      .computed =
          "weight(i, j) = softmax over j of q(i) · k(j) / √d, queries from the decoder, keys from "
          "the encoder. Which head to show was decided without knowing any right answer; the "
          "caption says by what.",
      .read =
          "A row is a French word, a column an English one; a ring marks the largest weight of its "
          "row. What a row lacks to 1 lies on the end of the sentence.",
      .limits = "One head of 24; most others do something else.",
      .model =
          "en-fr, made for fovea: 7.9 million parameters, trained from scratch on 754,118 pairs of "
          "public sentences. On held-out pairs BLEU 40.0. On 447 pairs that people aligned by hand "
          "the alignment error rate is 14.7 %, with random weights 88.7 to 90.1 %."};
}

}  // namespace

std::vector<Chapter> text_chapters() {
  return {self_attention(), reading(), steps(), translation()};
}

}  // namespace fovea
