// What the gallery shows, as gallery.json says it: inputs, questions, and the words around them.
#pragma once

#include <string>
#include <vector>

#include "fovea/base/json.h"

namespace fovea {

// How much of the page's width a picture takes where there is room for several.
enum class PictureWidth { kFull, kHalf, kThird };

// A question about an input, and the file that its answer is written to.
struct GalleryItem {
  std::string file;   // in the gallery's folder; .html: a page to move through; empty: no file
  std::string model;  // the name of a model; empty: the input needs none
  // As parse_input() takes it; or "picture" or "text_file", the name of a file, beside settings; or
  // "vectors", a file of vectors. "examples/…" is the gallery's own.
  Json input;
  Json question;  // as parse_question() takes it; of vectors as ask_vectors() does
};

struct GalleryPicture {
  GalleryItem item;
  std::string text;  // what one sees, in a sentence or two
  std::string alt;   // for those who cannot see it; of a page: what the link says
  PictureWidth width = PictureWidth::kFull;
};

// A part of a picture, in shares of its width and height; it is as wide as a card.
struct FacePart {
  double left = 0;
  double top = 0;
  double width = 1;
};

struct Chapter {
  std::string id;  // of its place on the page
  std::string title;
  std::string face;         // the picture that stands for it in the table of contents
  FacePart face_part = {};  // and what of it is shown there
  std::string point;        // what to take away, in a few words
  std::vector<std::string> lead;
  std::vector<GalleryPicture> pictures;
  std::string computed;  // how it is computed
  std::string read;      // how to read rows and columns
  std::string limits;    // what it does not say
  std::string model;     // what it is, who trained it on what, how good it is against untrained
};

struct GalleryItems {
  std::vector<Chapter> chapters;
  std::vector<GalleryItem> next;  // what to try next
};

GalleryItems gallery_items();

// The command that asks the same, from the verb on: made from input and question.
std::vector<std::string> command_words(const GalleryItem& item);

}  // namespace fovea
