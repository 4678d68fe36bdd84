// Reads and writes tensor files for the Python tests:
//   io_probe copy IN OUT   any of .safetensors, .npz and .npy to any other
//   io_probe list IN       name, type and shape of each tensor
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string_view>
#include <vector>

#include "fovea/io/npy.h"
#include "fovea/io/npz.h"
#include "fovea/io/safetensors.h"

namespace fovea {
namespace {

[[noreturn]] void fail_suffix(const std::filesystem::path& path) {
  fail(ErrorKind::kInvalidArgument, "{}: should end in .safetensors, .npz or .npy", path.string());
}

struct Contents {
  std::vector<NamedTensor> tensors;
  Metadata metadata;
};

Contents read(const std::filesystem::path& path) {
  Contents contents;
  if (path.extension() == ".safetensors") {
    const auto file = SafetensorsFile::open(path);
    contents.metadata = file.metadata();
    for (const auto& entry : file.entries()) {
      contents.tensors.push_back({entry.name, file.tensor(entry)});
    }
  } else if (path.extension() == ".npz") {
    const auto file = NpzFile::open(path);
    for (const std::string& name : file.names()) {
      contents.tensors.push_back({name, file.tensor(name)});
    }
  } else if (path.extension() == ".npy") {
    contents.tensors.push_back({"array", read_npy(path)});
  } else {
    fail_suffix(path);
  }
  return contents;
}

void write(const std::filesystem::path& path, const Contents& contents) {
  if (path.extension() == ".safetensors") {
    write_safetensors(path, contents.tensors, contents.metadata);
  } else if (path.extension() == ".npz") {
    write_npz(path, contents.tensors);
  } else if (path.extension() != ".npy") {
    fail_suffix(path);
  } else if (contents.tensors.size() != 1) {
    fail(ErrorKind::kInvalidArgument, "{}: holds one array but {} were read", path.string(),
         contents.tensors.size());
  } else {
    write_npy(path, contents.tensors[0].tensor);
  }
}

int run(const std::vector<std::string_view>& arguments) {
  if (arguments.size() == 3 && arguments[0] == "copy") {
    write(arguments[2], read(arguments[1]));
    return 0;
  }
  if (arguments.size() == 2 && arguments[0] == "list") {
    for (const auto& [name, tensor] : read(arguments[1]).tensors) {
      fmt::print("{} {} {}\n", name, dtype_name(tensor.dtype()), to_string(tensor.shape()));
    }
    return 0;
  }
  fmt::print(stderr, "usage: io_probe copy IN OUT | io_probe list IN\n");
  return 2;
}

}  // namespace
}  // namespace fovea

int main(int argc, char** argv) {
  try {
    return fovea::run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    fmt::print(stderr, "io_probe: {}\n", error.what());
    return 1;
  }
}
