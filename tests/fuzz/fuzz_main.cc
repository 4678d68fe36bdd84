// Runs a fuzz target where there is no libFuzzer: over every file of a corpus folder and over
// thousands of damaged forms of each, the same ones every time.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

using Input = std::vector<uint8_t>;

constexpr size_t kLongestTruncation = 4096;
constexpr int kMutationsPerFile = 1500;

// The numbers that readers get wrong.
constexpr std::array<uint64_t, 12> kExtremes{0,
                                             1,
                                             7,
                                             0x7f,
                                             0xff,
                                             0x7fff,
                                             0xffff,
                                             0x7fffffff,
                                             0xffffffff,
                                             0x7fffffffffffffff,
                                             0x8000000000000000,
                                             0xffffffffffffffff};

class Runner {
 public:
  explicit Runner(int stride) : stride_(stride) {}

  // In memory of its own and of just this size, so that a sanitizer sees the first byte too far.
  void run(const Input& input) {
    if (offered_++ % stride_ != 0) return;
    ++count_;
    const auto copy = std::make_unique<uint8_t[]>(input.size());
    std::copy(input.begin(), input.end(), copy.get());
    LLVMFuzzerTestOneInput(copy.get(), input.size());
  }
  int count() const { return count_; }

 private:
  int stride_;
  int offered_ = 0;
  int count_ = 0;
};

Input mutated(Input input, std::mt19937_64& random) {
  const auto below = [&](size_t limit) { return static_cast<size_t>(random() % limit); };
  const size_t changes = 1 + below(4);
  for (size_t i = 0; i < changes && !input.empty(); ++i) {
    const size_t at = below(input.size());
    const auto place = input.begin() + static_cast<std::ptrdiff_t>(at);
    const size_t length = std::min(input.size() - at, 1 + below(8));
    switch (below(5)) {
      case 0:
        input[at] ^= static_cast<uint8_t>(1U << below(8));
        break;
      case 1:
        input[at] = static_cast<uint8_t>(random());
        break;
      case 2: {
        const uint64_t value = kExtremes[below(kExtremes.size())];
        std::memcpy(input.data() + at, &value, length);
        break;
      }
      case 3:
        input.erase(place, place + static_cast<std::ptrdiff_t>(length));
        break;
      default: {
        const Input piece(place, place + static_cast<std::ptrdiff_t>(length));
        input.insert(input.begin() + static_cast<std::ptrdiff_t>(below(input.size())),
                     piece.begin(), piece.end());
        break;
      }
    }
  }
  return input;
}

void run_file(const Input& input, Runner& runner) {
  runner.run(input);
  for (size_t size = 0; size < std::min(input.size(), kLongestTruncation); ++size) {
    runner.run(Input(input.begin(), input.begin() + static_cast<std::ptrdiff_t>(size)));
  }
  std::mt19937_64 random(input.size());
  for (int i = 0; i < kMutationsPerFile; ++i) runner.run(mutated(input, random));
}

int run_folder(const char* folder, int stride) {
  std::vector<std::filesystem::path> files;
  for (const auto& item : std::filesystem::directory_iterator(folder)) {
    if (item.is_regular_file()) files.push_back(item.path());
  }
  if (files.empty()) {
    std::fprintf(stderr, "%s: holds no corpus file\n", folder);
    return 1;
  }
  std::sort(files.begin(), files.end());
  Runner runner(stride);
  for (const auto& file : files) {
    std::ifstream stream(file, std::ios::binary);
    const Input input{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
    try {
      run_file(input, runner);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s: case %d let out: %s\n", file.c_str(), runner.count(), error.what());
      return 1;
    }
  }
  std::printf("%d cases from %zu files\n", runner.count(), files.size());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const int stride = argc == 3 ? std::atoi(argv[2]) : 1;
  if (argc < 2 || argc > 3 || stride < 1) {
    std::fprintf(stderr, "usage: %s CORPUS_FOLDER [RUN_EVERY_NTH]\n", argv[0]);
    return 2;
  }
  try {
    return run_folder(argv[1], stride);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
