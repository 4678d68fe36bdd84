#include "fovea/server/upload_shelf.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/progress.h"
#include "fovea/base/sha256.h"
#include "fovea/capture/array_run.h"
#include "fovea/capture/run_file.h"
#include "fovea/engine/input_file.h"
#include "fovea/io/safetensors.h"
#include "fovea/vision/decode.h"

namespace fovea {
namespace {

constexpr size_t kIdDigits = 32;

bool is_npy(std::string_view bytes) {
  return bytes.starts_with("\x93NUMPY");
}

bool is_zip(std::string_view bytes) {
  return bytes.starts_with("PK\x03\x04") || bytes.starts_with("PK\x05\x06");
}

// Eight bytes of a length, then JSON.
bool is_safetensors(std::string_view bytes) {
  constexpr size_t kLengthBytes = 8;
  return bytes.size() > kLengthBytes && bytes[kLengthBytes] == '{' && bytes[kLengthBytes - 1] == 0;
}

void measure_arrays(Upload& upload, const std::string& suffix,
                    const std::shared_ptr<const std::string>& bytes) {
  upload.run = Session::of(open_arrays(as_bytes(*bytes), upload.name, suffix, bytes));
  upload.facts.set("kind", "arrays");
}

void measure_safetensors(Upload& upload, const std::shared_ptr<const std::string>& bytes) {
  const SafetensorsFile file = SafetensorsFile::parse(as_bytes(*bytes), upload.name, bytes);
  if (holds_run(file)) {
    upload.run = Session::of(load_run(file, upload.name));
    upload.facts.set("kind", "run");
    return;
  }
  const auto is_input = [&](std::string_view name) { return file.find(name) != nullptr; };
  if (is_input("input_ids") || is_input("input_features") || is_input("pixel_values")) {
    std::vector<NamedTensor> tensors;
    for (const auto& entry : file.entries()) tensors.push_back({entry.name, file.tensor(entry)});
    upload.inputs = model_inputs_of(tensors, upload.name);
    upload.facts.set("kind", "inputs");
    return;
  }
  measure_arrays(upload, ".safetensors", bytes);
}

void measure(Upload& upload, const std::shared_ptr<const std::string>& bytes) {
  if (is_npy(*bytes)) return measure_arrays(upload, ".npy", bytes);
  if (is_zip(*bytes)) return measure_arrays(upload, ".npz", bytes);
  if (is_safetensors(*bytes)) return measure_safetensors(upload, bytes);
  const Picture picture = decode_picture(as_bytes(*bytes), upload.name).picture;
  upload.facts.set("kind", "picture");
  upload.facts.set("width", picture.width);
  upload.facts.set("height", picture.height);
  upload.picture = bytes;
}

}  // namespace

std::shared_ptr<const Upload> UploadShelf::add(std::string bytes, const std::string& name) {
  auto upload = std::make_shared<Upload>();
  upload->id = sha256_hex(as_bytes(bytes)).substr(0, kIdDigits);
  upload->name = name;
  upload->bytes = bytes.size();
  upload->facts = Json::object(
      {{"upload", upload->id}, {"bytes", static_cast<int64_t>(bytes.size())}, {"name", name}});
  const auto shared = std::make_shared<const std::string>(std::move(bytes));
  measure(*upload, shared);
  const std::lock_guard lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  if (const auto found = uploads_.find(upload->id); found != uploads_.end()) {
    found->second.used = now;
    return found->second.upload;
  }
  if (bytes_ + upload->bytes > most_bytes_) {
    fail(ErrorKind::kOutOfMemory,
         "uploads take {} already and the server keeps {} in all; try again later",
         format_bytes(bytes_), format_bytes(most_bytes_));
  }
  bytes_ += upload->bytes;
  uploads_.emplace(upload->id, Entry{upload, now});
  return upload;
}

std::shared_ptr<const Upload> UploadShelf::upload(std::string_view id) {
  const std::lock_guard lock(mutex_);
  const auto found = uploads_.find(id);
  if (found == uploads_.end()) {
    fail(ErrorKind::kNotFound, Field{"upload"},
         "there is no such upload, or nobody used it for an hour; send the file again");
  }
  found->second.used = std::chrono::steady_clock::now();
  return found->second.upload;
}

uint64_t UploadShelf::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

void UploadShelf::drop_unused(std::chrono::seconds time) {
  const std::lock_guard lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  for (auto it = uploads_.begin(); it != uploads_.end();) {
    if (now - it->second.used < time) {
      ++it;
      continue;
    }
    bytes_ -= it->second.upload->bytes;
    it = uploads_.erase(it);
  }
}

}  // namespace fovea
