#include "fovea/cli/gallery/items.h"

#include <cstddef>
#include <span>

#include "fovea/base/file.h"

namespace fovea {

// Made by cmake/FoveaEmbed.cmake.
std::span<const std::byte> embedded_gallery_json();

namespace {

constexpr std::string_view kGalleryFile = "gallery.json";

std::string member_text(const Json& json, std::string_view name) {
  return json.at(name, kGalleryFile).as_string(kGalleryFile);
}

// Empty where it is left out.
std::string member_text_or_empty(const Json& json, std::string_view name) {
  return json.find(name) != nullptr ? member_text(json, name) : "";
}

PictureWidth width_in(const Json& json) {
  const std::string width = member_text_or_empty(json, "width");
  if (width == "third") return PictureWidth::kThird;
  return width == "half" ? PictureWidth::kHalf : PictureWidth::kFull;
}

GalleryItem read_item(const Json& json) {
  return {.file = member_text_or_empty(json, "file"),
          .model = member_text_or_empty(json, "model"),
          .input = json.at("input", kGalleryFile),
          .question = json.at("question", kGalleryFile)};
}

FacePart part_in(const Json& json) {
  const Json* part = json.find("face_part");
  if (part == nullptr) return {};
  const Json::Array& numbers = part->as_array(kGalleryFile);
  const auto number = [&](size_t i) { return numbers.at(i).as_double(kGalleryFile); };
  return {number(0), number(1), number(2)};
}

Chapter read_chapter(const Json& json) {
  Chapter chapter{.id = member_text(json, "id"),
                  .title = member_text(json, "title"),
                  .face = member_text(json, "face"),
                  .face_part = part_in(json),
                  .point = member_text(json, "point"),
                  .computed = member_text(json, "computed"),
                  .read = member_text(json, "read"),
                  .limits = member_text(json, "limits"),
                  .model = member_text(json, "model")};
  for (const Json& paragraph : json.at("lead", kGalleryFile).as_array(kGalleryFile)) {
    chapter.lead.push_back(paragraph.as_string(kGalleryFile));
  }
  for (const Json& picture : json.at("pictures", kGalleryFile).as_array(kGalleryFile)) {
    chapter.pictures.push_back({.item = read_item(picture),
                                .text = member_text(picture, "text"),
                                .alt = member_text(picture, "alt"),
                                .width = width_in(picture)});
  }
  return chapter;
}

}  // namespace

GalleryItems gallery_items() {
  const Json json = Json::parse(as_text(embedded_gallery_json()), kGalleryFile);
  GalleryItems items;
  for (const Json& chapter : json.at("chapters", kGalleryFile).as_array(kGalleryFile)) {
    items.chapters.push_back(read_chapter(chapter));
  }
  for (const Json& next : json.at("next", kGalleryFile).as_array(kGalleryFile)) {
    items.next.push_back(read_item(next));
  }
  return items;
}

}  // namespace fovea
