// A temporary file for records that would fill memory. It is mapped, so the system keeps in memory
// only what is being read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <mutex>

#include "fovea/capture/attention_record.h"

namespace fovea {

// The file has no name. It is gone once neither this object nor a tensor of it is left, however the
// program ends. May be called from several threads.
class SpillFile {
 public:
  // Throws Error{kIo} if no file can be made there.
  explicit SpillFile(std::filesystem::path folder);
  SpillFile(const SpillFile&) = delete;
  SpillFile& operator=(const SpillFile&) = delete;
  ~SpillFile();

  // Moves a tensor's numbers into the file. Throws Error{kIo} if the disk is full.
  Tensor store(const Tensor& tensor);
  // Moves everything that grows with the input's length into the file, except the LSE.
  AttentionRecord store(AttentionRecord record);

 private:
  std::filesystem::path folder_;
  int descriptor_;
  std::mutex mutex_;
  uint64_t end_ = 0;
};

// How many bytes store(record) takes out of memory.
uint64_t spilled_bytes(const AttentionRecord& record);

// $TMPDIR, or else /var/tmp: unlike /tmp it is on a disk everywhere.
std::filesystem::path spill_folder();

}  // namespace fovea
