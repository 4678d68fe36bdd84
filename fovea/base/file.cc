#include "fovea/base/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>
#include <utility>

#include "fovea/base/cancel.h"
#include "fovea/base/error.h"

namespace fovea {
namespace {

constexpr size_t kWriteBufferBytes = size_t{1} << 16;
// How much is written between two looks at whether the work is cancelled.
constexpr size_t kWritePieceBytes = size_t{16} << 20;

[[noreturn]] void fail_open(const std::filesystem::path& path, int error) {
  if (error == ENOENT) {
    fail(ErrorKind::kNotFound, "{}: no such file; check the path", path.string());
  }
  fail(ErrorKind::kIo, "{}: cannot be opened: {}", path.string(), std::strerror(error));
}

// Closes a descriptor when a scope ends, however it ends.
class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (value_ >= 0) ::close(value_);
  }
  int get() const { return value_; }
  int release() { return std::exchange(value_, -1); }

 private:
  int value_;
};

// Where a chain of links leads, whether or not a file is there yet: the link stays and its file is
// replaced or made.
std::filesystem::path follow_links(std::filesystem::path path) {
  constexpr int kLongestChain = 40;
  std::error_code error;
  for (int i = 0; i < kLongestChain && std::filesystem::is_symlink(path, error); ++i) {
    const auto next = std::filesystem::read_symlink(path, error);
    if (error) break;
    path = path.parent_path() / next;  // an absolute `next` replaces the whole
  }
  return path;
}

// Beside the target, so that a rename suffices; unlike that of any other writer.
std::string temporary_name(const std::filesystem::path& target) {
  static std::atomic<uint64_t> writes{0};
  return fmt::format("{}.{}-{}.tmp", target.string(), ::getpid(), ++writes);
}

// Where files are mapped: begin to end.
class Mappings {
 public:
  void add(Bytes bytes) {
    const std::lock_guard lock(mutex_);
    ends_[bytes.data()] = bytes.data() + bytes.size();
  }
  void remove(Bytes bytes) {
    const std::lock_guard lock(mutex_);
    ends_.erase(bytes.data());
  }
  bool hold(Bytes bytes) {
    const std::lock_guard lock(mutex_);
    auto after = ends_.upper_bound(bytes.data());
    return after != ends_.begin() && bytes.data() + bytes.size() <= std::prev(after)->second;
  }

 private:
  std::mutex mutex_;
  std::map<const std::byte*, const std::byte*> ends_;
};

// Never destroyed: files may outlive every other static object.
Mappings& mappings() {
  static auto* const all = new Mappings;
  return *all;
}

}  // namespace

MappedFile::MappedFile(std::filesystem::path path, Bytes bytes)
    : path_(std::move(path)), bytes_(bytes) {
  if (!bytes_.empty()) mappings().add(bytes_);
}

MappedFile::~MappedFile() {
  if (bytes_.empty()) return;
  mappings().remove(bytes_);
  ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

bool file_exists(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

bool is_folder(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored);
}

std::string lower_suffix(const std::filesystem::path& path) {
  std::string suffix = path.extension().string();
  for (char& c : suffix) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return suffix;
}

bool is_mapped(Bytes bytes) {
  return mappings().hold(bytes);
}

void let_pages_go(Bytes bytes) {
  if (!is_mapped(bytes)) return;
  const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<uintptr_t>(bytes.data());
  const uintptr_t first = (begin + page - 1) / page * page;
  const uintptr_t last = (begin + bytes.size()) / page * page;
  // Advice: where it is not taken, the pages stay.
  if (first < last) ::madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}

std::shared_ptr<const MappedFile> MappedFile::open(const std::filesystem::path& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) fail_open(path, errno);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) fail_open(path, errno);
  if (!S_ISREG(status.st_mode)) {
    fail(ErrorKind::kIo, "{}: is {}, not a file; name a file", path.string(),
         S_ISDIR(status.st_mode) ? "a folder" : "a device or pipe");
  }
  const auto size = static_cast<size_t>(status.st_size);
  Bytes bytes;
  if (size > 0) {
    void* data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
    if (data == MAP_FAILED) {
      fail(ErrorKind::kIo, "{}: {} bytes cannot be mapped: {}", path.string(), size,
           std::strerror(errno));
    }
    bytes = {static_cast<const std::byte*>(data), size};
  }
  return std::shared_ptr<const MappedFile>(new MappedFile(path, bytes));
}

std::string read_text_file(const std::filesystem::path& path, size_t limit) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) fail_open(path, errno);
  std::string text;
  char chunk[1 << 16];
  for (;;) {
    const ssize_t count = ::read(file.get(), chunk, sizeof chunk);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      fail(ErrorKind::kIo, "{}: cannot be read: {}", path.string(), std::strerror(errno));
    }
    if (count == 0) return text;
    text.append(chunk, static_cast<size_t>(count));
    if (text.size() > limit) {
      fail(ErrorKind::kBadFile, "{}: is larger than {} bytes, the most that is read here",
           path.string(), limit);
    }
  }
}

void FileWriter::write(Bytes bytes) {
  position_ += bytes.size();
  if (buffer_.size() + bytes.size() > kWriteBufferBytes) flush();
  if (bytes.size() > kWriteBufferBytes) {
    write_raw(bytes);
  } else {
    buffer_.append(as_text(bytes));
  }
}

void FileWriter::flush() {
  write_raw(as_bytes(buffer_));
  buffer_.clear();
}

void FileWriter::write_raw(Bytes bytes) {
  while (!bytes.empty()) {
    check_cancelled();
    const size_t piece = std::min(bytes.size(), kWritePieceBytes);
    const ssize_t count = ::write(descriptor_, bytes.data(), piece);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      fail(ErrorKind::kIo, "{}: cannot be written: {}; free some space or choose another place",
           path_.string(), std::strerror(errno));
    }
    bytes = bytes.subspan(static_cast<size_t>(count));
  }
}

void write_file_atomic(const std::filesystem::path& path,
                       const std::function<void(FileWriter&)>& write) {
  std::error_code ignored;
  const auto type = std::filesystem::status(path, ignored).type();
  const bool in_place = type != std::filesystem::file_type::not_found &&
                        type != std::filesystem::file_type::regular &&
                        type != std::filesystem::file_type::directory;
  if (type == std::filesystem::file_type::directory) {
    fail(ErrorKind::kIo, "{}: is a folder; name a file to write", path.string());
  }
  const std::filesystem::path target = in_place ? path : follow_links(path);
  const std::string temporary = in_place ? target.string() : temporary_name(target);
  // A new file gets the usual permissions; O_EXCL keeps it from being anyone else's.
  const int flags = O_WRONLY | O_CLOEXEC | (in_place ? 0 : O_CREAT | O_EXCL);
  Descriptor file(::open(temporary.c_str(), flags, 0666));
  if (file.get() < 0) {
    fail(ErrorKind::kIo, "{}: cannot be written: {}; choose a folder that exists and is yours",
         path.string(), std::strerror(errno));
  }
  try {
    FileWriter writer(file.get(), path);
    write(writer);
    writer.flush();
    if (in_place) return;
    struct stat old {};
    if (::stat(target.c_str(), &old) == 0) ::fchmod(file.get(), old.st_mode & 07777);
    // close() reports a full disk on network file systems, so it is checked.
    if (::close(file.release()) != 0 || ::rename(temporary.c_str(), target.c_str()) != 0) {
      fail(ErrorKind::kIo, "{}: cannot be written: {}; free some space or choose another place",
           path.string(), std::strerror(errno));
    }
  } catch (...) {
    if (!in_place) ::unlink(temporary.c_str());
    throw;
  }
}

}  // namespace fovea
