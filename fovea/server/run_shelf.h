// The runs that can be asked about, by their hashes. Those that were made here are dropped by age
// when memory is short; captured ones stay, because their numbers lie in their files.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/ask/session.h"
#include "fovea/atlas/head_choice.h"
#include "fovea/atlas/map_value.h"
#include "fovea/atlas/pyramid.h"
#include "fovea/server/file_stamp.h"

namespace fovea {

// One map of a run.
struct ServedMap {
  SiteId site;
  HeadChoice head;
  MapValue value = MapValue::kWeight;
};

class OpenRun {
 public:
  // `files`: what the run reads from, or its model.
  OpenRun(std::string hash, Session session, bool captured, std::string name,
          std::vector<FileStamp> files);

  const std::string& hash() const { return hash_; }
  const Session& session() const { return session_; }
  bool captured() const { return captured_; }
  // The file's name of a captured run; empty otherwise.
  const std::string& name() const { return name_; }
  std::shared_ptr<const FinishedRun> finished() const { return session_.run(); }
  // Throws Error{kBadFile} if somebody wrote to them.
  void check_files() const { check_untouched(files_); }
  // Memory that goes when the run does.
  uint64_t bytes() const { return bytes_; }

  // Throws Error{kNotFound} about the field "site" or "layer", and Error{kInvalidArgument} about
  // "head".
  std::shared_ptr<const AttentionRecord> record(SiteId site) const;
  // The map at every zoom; the same object for the same choice.
  std::shared_ptr<const Pyramid> pyramid(const ServedMap& choice,
                                         const std::shared_ptr<TileCache>& cache);
  // What the map differs by from that of another run, `other` taken away.
  std::shared_ptr<const Pyramid> difference(const OpenRun& other, const ServedMap& choice,
                                            const std::shared_ptr<TileCache>& cache);

 private:
  std::shared_ptr<const Pyramid> kept(
      const std::string& key, const std::shared_ptr<TileCache>& cache,
      const std::function<std::shared_ptr<const CellSource>()>& source);

  std::string hash_;
  Session session_;
  bool captured_;
  std::string name_;
  std::vector<FileStamp> files_;
  uint64_t bytes_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const Pyramid>> pyramids_;
};

class RunShelf {
 public:
  explicit RunShelf(uint64_t most_bytes) : most_bytes_(most_bytes) {}

  // Adds a run, or gives the one that is there under its hash. The oldest ones go if there is no
  // room; throws Error{kOutOfMemory} for a run that alone is too large.
  std::shared_ptr<OpenRun> add(std::shared_ptr<OpenRun> run);
  // Null if there is none. Whoever is asked for becomes the newest.
  std::shared_ptr<OpenRun> find(std::string_view hash);
  // The same. Throws HttpProblem: 404, or 410 for one that was dropped; and as check_files() for
  // one that lies in a file.
  std::shared_ptr<OpenRun> run(std::string_view hash);
  // The newest first.
  std::vector<std::shared_ptr<OpenRun>> all() const;
  uint64_t bytes() const;

 private:
  struct Entry {
    std::shared_ptr<OpenRun> run;
    uint64_t used = 0;
  };
  void make_room(uint64_t bytes);  // with the lock held

  uint64_t most_bytes_;
  mutable std::mutex mutex_;
  uint64_t uses_ = 0;
  uint64_t bytes_ = 0;
  std::map<std::string, Entry, std::less<>> runs_;
  std::set<std::string, std::less<>> dropped_;
};

}  // namespace fovea
