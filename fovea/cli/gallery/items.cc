#include "fovea/cli/gallery/items.h"

#include "fovea/cli/model_options.h"

namespace fovea {

std::vector<Chapter> gallery_chapters() {
  std::vector<Chapter> chapters = text_chapters();
  for (Chapter& chapter : picture_chapters()) chapters.push_back(std::move(chapter));
  return chapters;
}

std::vector<NextCommand> next_commands() {
  return {{{"text", "Your own sentence.", "--token", "own"}, std::string(kDefaultTextModel)},
          {{"text", "Your own sentence.", "--out", "page.html"}, std::string(kDefaultTextModel)},
          {{"translate", "Where is the station?", "--out", "alignment.png"},
           std::string(kDefaultTranslationModel)},
          {{"explain", "models/scenes-vit/demo/scene-3.png", "--out", "why.png"},
           std::string(kDefaultPictureModel)},
          {{"models"}, ""}};
}

}  // namespace fovea
