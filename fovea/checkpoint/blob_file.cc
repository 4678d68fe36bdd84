#include "fovea/checkpoint/blob_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "fovea/base/cancel.h"
#include "fovea/base/error.h"
#include "fovea/base/log.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;

constexpr size_t kReadBytes = size_t{1} << 20;

[[noreturn]] void fail_write(const fs::path& path, int error) {
  const char* advice = error == ENOSPC || error == EDQUOT || error == EFBIG
                           ? "free some space or set HF_HOME to a larger disk, then run it again"
                           : "make the folder yours or set HF_HOME to another";
  fail(ErrorKind::kIo, "{}: cannot be written: {}; {}", path.string(), std::strerror(error),
       advice);
}

int open_file(const fs::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor < 0) fail_write(path, errno);
  return descriptor;
}

fs::path incomplete_path(const fs::path& blob) {
  return blob.string() + ".incomplete";
}

// The etag of a large file is its SHA-256, that of a small one git's name for it.
std::optional<Hasher> hasher_of(const HubFile& file) {
  if (file.etag.size() == 64) return Hasher::sha256();
  if (file.etag.size() != 40) return std::nullopt;
  Hasher hasher = Hasher::sha1();
  hasher.update(as_bytes(fmt::format("blob {}", file.size)));
  hasher.update(as_bytes(std::string_view("\0", 1)));
  return hasher;
}

}  // namespace

FileLock::FileLock(const fs::path& path) : descriptor_(open_file(path)) {
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) == 0) return;
  log(LogLevel::kWarn, "waiting for another download of the same file ({})", path.string());
  while (::flock(descriptor_, LOCK_EX) != 0) {
    if (errno == EINTR) continue;
    const int error = errno;
    ::close(descriptor_);
    fail(ErrorKind::kIo, "{}: cannot be locked: {}", path.string(), std::strerror(error));
  }
}

FileLock::~FileLock() {
  ::close(descriptor_);
}

BlobFile::BlobFile(const fs::path& blob, const HubFile& file, Progress& progress)
    : blob_(blob),
      incomplete_(incomplete_path(blob)),
      file_(file),
      progress_(progress),
      descriptor_(open_file(incomplete_)),
      hasher_(hasher_of(file)) {
  try {
    read_what_is_there();
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

BlobFile::~BlobFile() {
  if (position_ == 0) ::unlink(incomplete_.c_str());  // nothing to go on with
  ::close(descriptor_);
}

void BlobFile::read_what_is_there() {
  std::vector<std::byte> buffer(kReadBytes);
  for (;;) {
    const ssize_t count = ::read(descriptor_, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      fail(ErrorKind::kIo, "{}: cannot be read: {}", incomplete_.string(), std::strerror(errno));
    }
    if (count == 0) return;
    position_ += static_cast<uint64_t>(count);
    if (position_ > file_.size) return restart();
    if (hasher_) hasher_->update(Bytes(buffer).first(static_cast<size_t>(count)));
  }
}

void BlobFile::restart() {
  if (::ftruncate(descriptor_, 0) != 0 || ::lseek(descriptor_, 0, SEEK_SET) != 0) {
    fail_write(incomplete_, errno);
  }
  progress_.advance(-static_cast<int64_t>(position_));
  position_ = 0;
  hasher_ = hasher_of(file_);
}

void BlobFile::write(Bytes bytes) {
  if (bytes.size() > file_.size - position_) {
    restart();
    fail(ErrorKind::kBadFile, "{}: should have {} bytes but more are sent; try it later",
         file_.name, file_.size);
  }
  received_ += bytes.size();
  if (hasher_) hasher_->update(bytes);
  while (!bytes.empty()) {
    check_cancelled();
    const ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_write(incomplete_, errno);
    position_ += static_cast<uint64_t>(count);
    progress_.advance(count);
    bytes = bytes.subspan(static_cast<size_t>(count));
  }
}

void BlobFile::finish() {
  const std::string checksum = hasher_ ? hasher_->hex() : file_.etag;
  if (checksum != file_.etag) {
    restart();
    fail(ErrorKind::kBadFile,
         "{}: the checksum of what was downloaded is {} but should be {}; it was removed, run it "
         "again",
         file_.name, checksum, file_.etag);
  }
  if (::rename(incomplete_.c_str(), blob_.c_str()) != 0) fail_write(blob_, errno);
}

uint64_t incomplete_bytes(const fs::path& blob) {
  std::error_code error;
  const uint64_t size = fs::file_size(incomplete_path(blob), error);
  return error ? 0 : size;
}

}  // namespace fovea
