// A file among the cache's blobs while it is being downloaded.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "fovea/base/progress.h"
#include "fovea/base/sha256.h"
#include "fovea/checkpoint/hub.h"

namespace fovea {

// A lock that one program holds at a time, ours or another that uses the cache. The system lets go
// of it when the program dies.
class FileLock {
 public:
  // Waits for whoever has it. Throws Error{kIo}.
  explicit FileLock(const std::filesystem::path& path);
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  ~FileLock();

 private:
  int descriptor_;
};

// Bytes go to ETAG.incomplete; a later call continues there. finish() checks them and renames the
// file to ETAG. The caller has the blob's lock.
class BlobFile final : public DownloadSink {
 public:
  // Continues with the bytes that are there. Throws Error{kIo}.
  BlobFile(const std::filesystem::path& blob, const HubFile& file, Progress& progress);
  BlobFile(const BlobFile&) = delete;
  BlobFile& operator=(const BlobFile&) = delete;
  ~BlobFile() override;

  uint64_t position() const override { return position_; }
  void restart() override;
  // Throws Error{kBadFile} at once if there are more bytes than the file should have. Throws
  // Error{kIo} if the disk is full; what is there stays.
  void write(Bytes bytes) override;
  // Throws Error{kBadFile}, and forgets the bytes, if they are not those of the checksum.
  void finish();

  uint64_t received() const { return received_; }

 private:
  void read_what_is_there();
  std::filesystem::path blob_;
  std::filesystem::path incomplete_;
  const HubFile& file_;
  Progress& progress_;
  int descriptor_;
  uint64_t position_ = 0;
  uint64_t received_ = 0;
  std::optional<Hasher> hasher_;  // none if the etag is no checksum that we know
};

// Bytes of a download that was broken off; 0 if there was none.
uint64_t incomplete_bytes(const std::filesystem::path& blob);

}  // namespace fovea
