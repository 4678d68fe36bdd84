// The gallery's page, from what was made of its chapters. It loads nothing but its own pictures.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fovea/cli/gallery/gallery.h"
#include "fovea/cli/gallery/items.h"

namespace fovea {

struct PixelSize {
  int64_t width = 0;
  int64_t height = 0;
};

struct PagePicture {
  GalleryPicture picture;
  std::string command;
  PixelSize size;
};

struct PageChapter {
  Chapter chapter;
  std::vector<PagePicture> pictures;
  std::vector<MissingModel> missing;
};

struct GalleryPage {
  std::vector<PageChapter> chapters;
  std::vector<std::string> next;  // commands to try
  std::string learn;              // a link to the chapters for learners; empty: they are not there
};

std::string gallery_html(const GalleryPage& page);

}  // namespace fovea
