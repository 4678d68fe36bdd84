// Where records go that would fill memory: a temporary file, mapped, so that the system keeps in
// memory what is being read and no more.
#pragma once

#include <cstdint>
#include <filesystem>
#include <mutex>

#include "fovea/capture/attention_record.h"

namespace fovea {

// The file has no name and is gone when neither this object nor a tensor of it is left, however the
// program ends. May be called from several threads.
class SpillFile {
 public:
  // Throws Error{kIo} if no file can be made there.
  explicit SpillFile(std::filesystem::path folder);
  SpillFile(const SpillFile&) = delete;
  SpillFile& operator=(const SpillFile&) = delete;
  ~SpillFile();

  // The same numbers, in the file. Throws Error{kIo} if the disk is full.
  Tensor store(const Tensor& tensor);
  // The same record, whatever grows with the length of its input in the file, but for the LSE.
  AttentionRecord store(AttentionRecord record);

 private:
  std::filesystem::path folder_;
  int descriptor_;
  std::mutex mutex_;
  uint64_t end_ = 0;
};

// The bytes that store(record) would take out of memory.
uint64_t spilled_bytes(const AttentionRecord& record);

// $TMPDIR, or else /var/tmp, which unlike /tmp is on a disk everywhere.
std::filesystem::path spill_folder();

}  // namespace fovea
