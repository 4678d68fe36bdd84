#include "fovea/cli/evaluate/truth_folder.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/json.h"
#include "fovea/cli/model_options.h"
#include "fovea/vision/picture_format.h"

namespace fovea {
namespace {

constexpr size_t kLargestTruth = size_t{1} << 26;
constexpr size_t kNamed = 3;  // of pictures without truth

bool is_picture(const std::filesystem::path& path) {
  return has_readable_suffix(path) && path.stem().extension() != ".mask";
}

// `picture` with another suffix, or nothing if there is no such file.
std::filesystem::path beside(std::filesystem::path picture, const char* suffix) {
  picture.replace_extension(suffix);
  return file_exists(picture) ? picture : std::filesystem::path();
}

std::vector<TruthFiles> list_pictures(const std::filesystem::path& folder) {
  std::error_code error;
  std::vector<TruthFiles> pictures;
  std::filesystem::directory_iterator entry(folder, error), end;
  for (; !error && entry != end; entry.increment(error)) {
    const std::filesystem::path& path = entry->path();
    std::error_code ignored;  // a link that leads nowhere
    if (!is_picture(path) || !entry->is_regular_file(ignored)) continue;
    pictures.push_back(
        {path.filename().string(), path, beside(path, ".mask.png"), beside(path, ".json")});
  }
  if (error) {
    fail(ErrorKind::kNotFound, "{}: cannot be listed ({}); name a folder of pictures",
         folder.string(), error.message());
  }
  if (pictures.empty()) {
    fail(ErrorKind::kNotFound,
         "{}: holds no picture; put NAME.png, .jpg, .jpeg, .webp, .ppm, .pgm or .pnm files into it",
         folder.string());
  }
  std::ranges::sort(pictures, {}, &TruthFiles::name);
  return pictures;
}

void tell_skipped(const std::vector<std::string>& names, std::string_view wanted) {
  if (names.empty()) return;
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), kNamed); ++i) {
    text += (i == 0 ? "" : ", ") + names[i];
  }
  if (names.size() > kNamed) text += fmt::format(" and {} more", names.size() - kNamed);
  print_warnings({fmt::format("{} {} skipped for want of {}", text,
                              names.size() == 1 ? "is" : "are", wanted)});
}

PictureBox box_from(const Json& json, const std::string& where) {
  const Json::Array& numbers = json.as_array(where);
  std::array<double, 4> box{};
  for (size_t i = 0; i < std::min(numbers.size(), box.size()); ++i) {
    box[i] = numbers[i].as_double(where);
  }
  if (numbers.size() != 4 || !std::ranges::all_of(box, [](double v) { return std::isfinite(v); }) ||
      box[2] <= box[0] || box[3] <= box[1]) {
    fail(ErrorKind::kBadFile, "{} is {} but should be [x0, y0, x1, y1] with x0 < x1 and y0 < y1",
         where, json.dump());
  }
  return {box[0], box[1], box[2], box[3]};
}

std::vector<TrueObject> objects_of_json(const std::filesystem::path& path) {
  const std::string name = path.string();
  const Json json = Json::parse(read_text_file(path, kLargestTruth), name);
  std::vector<TrueObject> objects;
  for (const Json& entry : json.at("objects", name).as_array(name + ": objects")) {
    const std::string where = fmt::format("{}: objects[{}]", name, objects.size());
    TrueObject object{.id = static_cast<int64_t>(objects.size()) + 1,
                      .box = box_from(entry.at("box_xyxy", where), where + ".box_xyxy")};
    if (const Json* id = entry.find("id")) object.id = id->as_int(where + ".id");
    if (const Json* label = entry.find("label")) object.label = label->as_string(where + ".label");
    objects.push_back(std::move(object));
  }
  return objects;
}

std::vector<TrueObject> objects_of_mask(const LabelMask& mask) {
  struct Extent {
    int64_t left = INT64_MAX, top = INT64_MAX, right = 0, bottom = 0;
  };
  std::array<Extent, 256> extents;
  for (int64_t y = 0, i = 0; y < mask.size.height; ++y) {
    for (int64_t x = 0; x < mask.size.width; ++x, ++i) {
      Extent& extent = extents[mask.labels[static_cast<size_t>(i)]];
      extent = {std::min(extent.left, x), std::min(extent.top, y), std::max(extent.right, x + 1),
                std::max(extent.bottom, y + 1)};
    }
  }
  std::vector<TrueObject> objects;
  for (const uint8_t id : mask.objects()) {
    const Extent& extent = extents[id];
    objects.push_back(
        {.id = id,
         .box = {static_cast<double>(extent.left), static_cast<double>(extent.top),
                 static_cast<double>(extent.right), static_cast<double>(extent.bottom)}});
  }
  return objects;
}

}  // namespace

std::vector<TruthFiles> pictures_with(const std::filesystem::path& folder, std::string_view wanted,
                                      const std::function<bool(const TruthFiles&)>& has_truth) {
  std::vector<TruthFiles> kept;
  std::vector<std::string> skipped;
  for (TruthFiles& files : list_pictures(folder)) {
    if (has_truth(files)) {
      kept.push_back(std::move(files));
    } else {
      skipped.push_back(files.name);
    }
  }
  if (kept.empty()) {
    fail(ErrorKind::kNotFound, "{}: {} of {} pictures have {}; put it beside them", folder.string(),
         0, skipped.size(), wanted);
  }
  tell_skipped(skipped, wanted);
  return kept;
}

LabelMask read_true_mask(const TruthFiles& files, PictureSize picture) {
  LabelMask mask = read_label_mask(files.mask);
  if (mask.size != picture) {
    fail(ErrorKind::kBadFile,
         "{}: has {} x {} pixels but its picture {} x {}; give a mask of the picture's size",
         files.mask.string(), mask.size.width, mask.size.height, picture.width, picture.height);
  }
  return mask;
}

std::vector<TrueObject> read_true_objects(const TruthFiles& files, PictureSize picture) {
  return files.objects.empty() ? objects_of_mask(read_true_mask(files, picture))
                               : objects_of_json(files.objects);
}

}  // namespace fovea
