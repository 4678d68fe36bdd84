// What the gallery shows: the commands of its pictures and the words around them.
#pragma once

#include <string>
#include <vector>

namespace fovea {

struct GalleryPicture {
  std::string file;                    // in the gallery's folder
  std::vector<std::string> arguments;  // of fovea, without --out; "examples/…" is the gallery's own
  std::string alt;                     // for those who cannot see it
  std::string model;                   // a name of the cache that it needs; empty: none
};

struct Chapter {
  std::string title;
  std::string lead;  // one or two sentences
  std::vector<GalleryPicture> pictures;
  std::string see;       // what you see
  std::string computed;  // how it is computed
  std::string read;      // how to read rows and columns
  std::string limits;    // what it does not say
  bool side_by_side = false;
};

std::vector<Chapter> gallery_chapters();

}  // namespace fovea
