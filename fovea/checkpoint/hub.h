// What the Hugging Face hub, or a server with the same HTTP API, says about a model; and its files.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/checkpoint/http.h"
#include "fovea/checkpoint/hub_cache.h"

namespace fovea {

struct HubSettings {
  std::string endpoint = "https://huggingface.co";
  std::string token;     // sent to the endpoint's own host only; empty: none
  bool offline = false;  // refuse to ask anybody
  int retries = 5;       // after temporary failures without a megabyte of progress
  std::chrono::milliseconds retry_delay{1000};  // before the first retry; doubles with each

  // HF_ENDPOINT; HF_TOKEN, otherwise the file token in HF_HOME; HF_HUB_OFFLINE.
  static HubSettings from_environment();
};

struct HubFile {
  std::string name;
  uint64_t size = 0;
  // The file's name among the blobs: SHA-256 of a large file, git's SHA-1 of a small one. Empty if
  // the listing does not say; Hub::complete then asks.
  std::string etag;
};

struct HubModel {
  std::string commit;
  std::vector<HubFile> files;

  const HubFile* find(std::string_view name) const;  // nullptr if there is none
};

// Reads an answer of /api/models/ORG/NAME/revision/REVISION. Throws Error{kBadFile} if it is not
// one, or names a file that would lie outside the model's folder.
HubModel parse_hub_model(std::string_view text, const std::string& source);

// Where a download goes, part by part.
class DownloadSink {
 public:
  virtual ~DownloadSink() = default;
  virtual uint64_t position() const = 0;  // bytes that are there already
  virtual void restart() = 0;             // forgets them
  virtual void write(Bytes bytes) = 0;
};

// Every member throws Error: kNotFound for a model, revision or file that is not there, kIo if the
// hub refuses or cannot be reached.
class Hub {
 public:
  explicit Hub(HubSettings settings);

  HubModel model(const HubName& name);
  // Asks for size and etag if the listing did not give them.
  void complete(const HubName& name, const std::string& commit, HubFile& file);
  // Brings `sink` to the file's size, going on from where it is. Throws Error{kBadFile} if the
  // server has another size.
  void download(const HubName& name, const std::string& commit, const HubFile& file,
                DownloadSink& sink);

 private:
  struct Retries;
  HttpResponse exchange(HttpRequest request, const HttpBody& on_body);
  HttpRequest request_to(const std::string& url) const;
  std::string file_url(const HubName& name, const std::string& commit,
                       const std::string& file) const;
  void check_start(const HubName& name, const HubFile& file, const HttpResponse& head,
                   DownloadSink& sink) const;
  [[noreturn]] void fail_status(const HubName& name, std::string_view file,
                                const HttpResponse& response) const;
  [[noreturn]] void fail_transfer(const HubName& name, std::string_view what,
                                  const HttpResponse& response) const;

  HubSettings settings_;
  HttpClient client_;
  HttpOrigin origin_;
};

}  // namespace fovea
