#include "fovea/cli/evaluate/truth_folder.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/json.h"
#include "fovea/cli/ask_options.h"
#include "fovea/cli/model_options.h"
#include "fovea/vision/picture_format.h"

namespace fovea {
namespace {

constexpr size_t kLargestTruth = size_t{1} << 26;
constexpr size_t kNamed = 3;  // of pictures without truth

struct TruthFiles {
  std::string name;  // the picture's file name
  std::filesystem::path picture;
  std::filesystem::path mask;     // empty: none
  std::filesystem::path objects;  // empty: none
};

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

bool has_truth(const TruthFiles& files, const TruthWanted& wanted) {
  if (wanted.either) return !files.mask.empty() || !files.objects.empty();
  return (!wanted.mask || !files.mask.empty()) && (!wanted.objects || !files.objects.empty());
}

Sample read_sample(const TruthFiles& files, const TruthWanted& wanted,
                   std::optional<PictureSize> size) {
  Sample sample;
  sample.input.what = read_picture_bytes(files.picture.string());
  sample.input.size = size;
  const bool objects = (wanted.objects || wanted.either) && !files.objects.empty();
  if (objects) sample.truth.objects = objects_of_json(files.objects);
  if (wanted.mask || (wanted.either && !objects)) {
    sample.truth.mask = read_label_mask(files.mask);
    sample.truth.mask_name = files.mask.string();
  }
  return sample;
}

std::vector<TruthFiles> pictures_with(const std::filesystem::path& folder,
                                      const TruthWanted& wanted) {
  std::vector<TruthFiles> kept;
  std::vector<std::string> skipped;
  for (TruthFiles& files : list_pictures(folder)) {
    if (has_truth(files, wanted)) {
      kept.push_back(std::move(files));
    } else {
      skipped.push_back(files.name);
    }
  }
  if (kept.empty()) {
    fail(ErrorKind::kNotFound, "{}: {} of {} pictures have {}; put it beside them", folder.string(),
         0, skipped.size(), wanted.told);
  }
  tell_skipped(skipped, wanted.told);
  return kept;
}

}  // namespace

ManyInputs pictures_with_truth(const std::filesystem::path& folder, const TruthWanted& wanted,
                               std::optional<PictureSize> size) {
  const auto files = std::make_shared<const std::vector<TruthFiles>>(pictures_with(folder, wanted));
  const auto next = [files, wanted, size, i = size_t{0}]() mutable -> std::optional<NamedInput> {
    if (i == files->size()) return {};
    const TruthFiles& picture = (*files)[i++];
    return NamedInput{picture.name,
                      [picture, wanted, size] { return read_sample(picture, wanted, size); }};
  };
  return {.next = next, .count = std::ssize(*files), .pictures = true};
}

}  // namespace fovea
