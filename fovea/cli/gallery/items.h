// What the gallery shows: the commands of its pictures and the words around them.
#pragma once

#include <string>
#include <vector>

namespace fovea {

// How much of the page's width a picture takes where there is room for several.
enum class PictureWidth { kFull, kHalf, kThird };

struct GalleryPicture {
  std::string file;                    // in the gallery's folder; .html: a page to move through
  std::vector<std::string> arguments;  // of fovea, without --out; "examples/…" is the gallery's own
  std::string text;                    // what one sees, in a sentence or two
  std::string alt;                     // for those who cannot see it; of a page: what the link says
  std::string model;                   // a name of the cache that it needs; empty: none
  PictureWidth width = PictureWidth::kFull;
};

struct Chapter {
  std::string id;  // of its place on the page
  std::string title;
  std::string face;   // the picture that stands for it in the table of contents
  std::string point;  // what to take away, in a few words
  std::vector<std::string> lead;
  std::vector<GalleryPicture> pictures;
  std::string computed;  // how it is computed
  std::string read;      // how to read rows and columns
  std::string limits;    // what it does not say
  std::string model;     // what it is, who trained it on what, how good it is against untrained
};

// Eight, in their order.
std::vector<Chapter> gallery_chapters();
std::vector<Chapter> text_chapters();     // the first four
std::vector<Chapter> picture_chapters();  // the others

// A command to try next, and the model that it needs.
struct NextCommand {
  std::vector<std::string> arguments;
  std::string model;
};
std::vector<NextCommand> next_commands();

}  // namespace fovea
