// What tools/fixtures/make_vision_fixture.py wrote.
#pragma once

#include <filesystem>
#include <string>

#include "fovea/base/file.h"
#include "fovea/base/json.h"
#include "fovea/vision/decode.h"
#include "support/data.h"

namespace fovea::support {

inline std::filesystem::path vision_data(const std::string& name) {
  return test_data("vision") / name;
}

inline Json vision_json(const std::string& name) {
  const std::filesystem::path path = vision_data(name);
  return Json::parse(read_text_file(path), path.string());
}

inline int64_t number(const Json& item, const char* key) {
  return item.at(key, key).as_int(key);
}
inline int64_t number(const Json& item, const char* key, size_t index) {
  return item.at(key, key).as_array(key).at(index).as_int(key);
}
inline const std::string& text(const Json& item, const char* key) {
  return item.at(key, key).as_string(key);
}

// The same as `formula` in tools/fixtures/make_vision_fixture.py.
inline Picture formula_picture(int64_t width, int64_t height, int64_t seed) {
  Picture picture(width, height);
  uint8_t* target = picture.bytes.data();
  for (int64_t y = 0; y < height; ++y) {
    for (int64_t x = 0; x < width; ++x) {
      for (int64_t c = 0; c < 3; ++c) {
        int64_t value = 0;
        if (seed % 3 == 0) {
          auto z = static_cast<uint32_t>(x + 4099 * y + 65537 * c + 7919 * seed);
          z = (z ^ z >> 16) * 0x7FEB352DU;
          z = (z ^ z >> 16) * 0x846CA68BU;
          value = z >> 24;
        } else if (seed % 3 == 1) {
          value = (x * (seed % 7 + 1) + y * (seed % 5 + 2) + c * 40) & 255;
        } else {
          value = ((x / (seed % 4 + 2) + y / (seed % 3 + 2) + c) & 1) * 255;
        }
        *target++ = static_cast<uint8_t>(value);
      }
    }
  }
  return picture;
}

}  // namespace fovea::support
