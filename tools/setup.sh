# Sourced by ./run and ./test: what fovea needs from the system, and how the release build is made.
# stdout belongs to the program that is run afterwards, so everything here speaks on stderr.

run_packages=(
  g++ cmake ninja-build ccache pkg-config libdnnl-dev libhwy-dev libfmt-dev libspdlog-dev
  nlohmann-json3-dev libcli11-dev libcairo2-dev libpango1.0-dev libfontconfig-dev libpng-dev
  libjpeg62-turbo-dev libwebp-dev
  zlib1g-dev libutf8proc-dev libpcre2-dev libsentencepiece-dev
  libssl-dev libcurl4-openssl-dev ca-certificates python3 python3-venv
)
bench_packages=(libbenchmark-dev)
python_packages=(python3-dev)  # for the Python package
test_packages=(curl libgtest-dev libgmock-dev dpkg-dev file "${python_packages[@]}")
sanitizer_packages=(clang-16 libclang-rt-16-dev libomp-16-dev)
format_packages=(clang-format-16)
browser_packages=(chromium)
manual_packages=(mandoc zsh fish)

# Those of DEFAULTS in tools/fetch_models.py.
default_models=(all-minilm-l6-v2 smollm2-135m-instruct)

requirements='fovea needs, from your package manager:
  tools      a C++20 compiler with OpenMP (GCC 12 or Clang 15, or newer), CMake 3.25, Ninja, pkg-config
  libraries  oneDNN 2.6 or 3.x, Highway 1.0.3, fmt 9, spdlog 1.10, nlohmann-json 3.11, CLI11 2.1,
             libpng 1.6, libjpeg-turbo 2.1, libwebp 1.2, zlib 1.2, cairo 1.16, pango 1.50, fontconfig 2.14,
             utf8proc 2.8, PCRE2 10.42, SentencePiece 0.1.97, OpenSSL 3.0, libcurl 7.62 (each with its headers)
  for tests  GoogleTest 1.12 with GoogleMock, Google Benchmark 1.7, Python 3.11 with venv and its headers
  optional   mandoc, zsh and fish (tests of the manual and of completion);
             chromium, and Node 20.19 with npm or else PyPI (tests of pages); ccache; Python 3.9 with pip or venv (fetches the default models);
             clang 16 with its runtime (fuzzing) and clang-format 16'

note() { if [ -t 2 ]; then printf 'fovea: %s\n' "$*" >&2; fi; }
die() {
  printf 'fovea: %s\n' "$*" >&2
  exit 1
}

# One build at a time. Released by release_lock or when the script ends.
take_lock() {
  mkdir -p "$root/build"
  exec 9>"$root/build/.lock"
  command -v flock >/dev/null || return 0
  flock -n 9 && return 0
  note "waiting for another build of this checkout…"
  flock 9
}
release_lock() { exec 9>&-; }

# Whether nothing changed since `built` was last called for the targets $@: neither a file of the program nor a package.
is_built() {
  local stamp changed inputs=("$root"/{fovea,cmake,bench,examples,tools/setup.sh,CMakeLists.txt,CMakePresets.json})
  stamp=$(built_stamp "$@")
  [ -e "$stamp" ] && [ "$(<"$stamp")" = "$root" ] && [ -x "$root/build/release/bin/fovea" ] || return 1
  [ ! -e /var/lib/dpkg/status ] || inputs+=(/var/lib/dpkg/status)
  changed=$(find "${inputs[@]}" -newer "$stamp" -print -quit 2>/dev/null) && [ -z "$changed" ]
}
# Files are compared with when the build began: one that was written meanwhile is newer. A checkout that was moved is
# built anew, because the program knows where its models are.
begin_build() { echo "$root" >"$root/build/.building"; }
built() { mv "$root/build/.building" "$(built_stamp "$@")"; }
built_stamp() { local IFS=+; echo "$root/build/release/.built-$*"; }

on_debian() {
  command -v dpkg-query >/dev/null && command -v apt-get >/dev/null && [ -r /etc/os-release ] &&
    (. /etc/os-release && [[ " $ID ${ID_LIKE:-} " =~ \ (debian|ubuntu)\  ]])
}

# The packages among the arguments that are not installed, one per line.
missing_packages() {
  local installed
  installed=$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' "$@" 2>/dev/null || true)
  local package
  for package in "$@"; do
    grep -qxF "installed $package" <<<"$installed" || echo "$package"
  done
}

as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif [ -t 2 ]; then
    sudo "$@"
  else
    sudo -n "$@"
  fi
}

# Installs what is missing of the named Debian packages. On another system only checks the tools.
need_packages() {
  if ! on_debian; then
    need_tools
    return
  fi
  local missing
  mapfile -t missing < <(missing_packages "$@")
  [ ${#missing[@]} -gt 0 ] || return 0
  local install=(apt-get install -y --no-install-recommends "${missing[@]}")
  if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null; then
    die "${#missing[@]} Debian packages are missing and there is no sudo; as root, run: ${install[*]}"
  fi
  local log=$root/build/packages.log
  local apt=(env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300
             -o Dpkg::Use-Pty=0)
  # Once an hour will do. A failed update is no reason to stop: the lists at hand may do.
  local updated=$root/build/packages.updated
  : >"$log"
  if [ -z "$(find "$updated" -mmin -60 2>/dev/null)" ]; then
    note "reading the lists of packages"
    as_root "${apt[@]}" -o Acquire::Languages=none update </dev/null >>"$log" 2>&1 && : >"$updated" || true
  fi
  [ ! -t 2 ] || note "installing $(package_count "${missing[@]}"): ${missing[*]}"
  if ! as_root "${apt[@]}" "${install[@]:1}" </dev/null >>"$log" 2>&1; then
    tail -n 15 "$log" >&2
    die "could not install Debian packages (all of it in $log); as root, run: ${install[*]}"
  fi
}

# "27 Debian packages (214 with what they need, 180 MB)".
package_count() {
  local plan all size
  plan=$(LC_ALL=C apt-get install --assume-no --no-install-recommends "$@" 2>/dev/null || true)
  all=$(sed -n 's/.* \([0-9]*\) newly installed.*/\1/p' <<<"$plan")
  size=$(sed -n 's/^Need to get \([^/]*B\).* of archives.*/\1/p' <<<"$plan")
  echo "$# Debian packages${all:+ ($all with what they need${size:+, $size})}"
}

need_tools() {
  local tool missing=()
  for tool in cmake ninja pkg-config; do
    command -v "$tool" >/dev/null || missing+=("$tool")
  done
  command -v "${CXX:-c++}" >/dev/null || missing+=("${CXX:-c++}")
  [ ${#missing[@]} -eq 0 ] && return 0
  printf '%s\n' "$requirements" >&2
  die "not found here: ${missing[*]}; install what is listed above and run this again"
}

# As many compilers as there are cores, and 1.5 GB of memory for each.
build_jobs() {
  local cores memory_kb
  cores=$(getconf _NPROCESSORS_ONLN)
  memory_kb=$(awk '/^MemAvailable/ {print $2}' /proc/meminfo 2>/dev/null || true)
  local by_memory=$((${memory_kb:-99000000} / 1500000))
  local jobs=$((cores < by_memory ? cores : by_memory))
  echo $((jobs < 1 ? 1 : jobs))
}

# Configures build/release unless it is there with the options $@ on. What ./test has switched on stays
# on, so that the two commands share what they have built.
configure_release() {
  local build=$root/build/release log=$root/build/configure.log
  local cache=$build/CMakeCache.txt option definitions=()
  if ! [ -f "$build/build.ninja" ] || ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$cache"; then
    rm -rf "$build"  # half configured, or copied from another place
    definitions=(-DFOVEA_TESTS=OFF -DFOVEA_BENCH=OFF -DFOVEA_SIMD=host)
  fi
  for option in "$@"; do
    grep -sqxF "$option:BOOL=ON" "$cache" || definitions+=("-D$option=ON")
  done
  [ ${#definitions[@]} -gt 0 ] || return 0
  if ! cmake -S "$root" --preset release "${definitions[@]}" >"$log" 2>&1; then
    rm -f "$build/build.ninja"
    tail -n 25 "$log" >&2
    printf '%s\n' "$requirements" >&2
    die "the build could not be configured; all of it is in $log"
  fi
}

# Reads a compiler run on stdin: all of it goes to the file $1, the count to the terminal.
show_build_progress() {
  local line first=yes
  while IFS= read -r line; do
    printf '%s\n' "$line"
    if [ -t 2 ] && [[ $line =~ ^\[([1-9][0-9]*)/([0-9]+)\] ]]; then
      local done=${BASH_REMATCH[1]} all=${BASH_REMATCH[2]}
      [ -n "$first" ] && [ "$all" -gt 40 ] && note "building (the first time takes a few minutes)"
      first=
      printf '\r\033[Kfovea: building, %s of %s%s' "$done" "$all" "$(fetching_now)" >&2
    fi
  done >"$1"
  [ -n "$first" ] || printf '\r\033[K' >&2
}

# Builds the targets $@ of build/release; the output goes to a log and is shown only on failure.
build_release() {
  local build=$root/build/release log=$root/build/build.log
  local command=(cmake --build "$build" -j "$(build_jobs)" --target "$@")
  if ! NINJA_STATUS='[%f/%t] ' "${command[@]}" 2>&1 </dev/null | show_build_progress "$log"; then
    # From the first failure on; without one, the end.
    sed -n '/^FAILED:/,$p' "$log" | head -n 40 >&2
    grep -q '^FAILED:' "$log" || tail -n 25 "$log" >&2
    die "the build failed; all of it is in $log"
  fi
}

# Where fovea looks for models, as in fovea/checkpoint/resolve.cc.
model_cache() {
  local home=${HOME:-$(unset HOME; echo ~)}
  echo "${FOVEA_CACHE:-${XDG_CACHE_HOME:-$home/.cache}/fovea}"
}

lacks_default_models() {
  local model
  for model in "${default_models[@]}"; do
    [ -d "$1/models/$model" ] || return 0
  done
  return 1
}

# Begins to fetch the default models where they are missing, beside whatever is done until wait_for_models. What cannot be
# had is no reason to stop: fovea then says what it needs. After a failure it is left alone for a day.
fetching=
fetch_default_models() {
  local cache
  cache=$(model_cache)
  lacks_default_models "$cache" || return 0
  case ${FOVEA_OFFLINE:-0} in '' | 0) ;; *) return 0 ;; esac
  command -v python3 >/dev/null || return 0
  [ -z "$(find "$cache/.fetch-failed" -mmin -1440 2>/dev/null)" ] || return 0
  python3 "$root/tools/fetch_models.py" </dev/null >"$root/build/models.log" 2>&1 9>&- &
  fetching=$!
  # A shell's background work does not see Ctrl-C.
  trap 'kill "$fetching" 2>/dev/null' EXIT
}

# " · fetching NAME (84 MB)" while that goes on.
fetching_now() {
  [ -n "$fetching" ] && kill -0 "$fetching" 2>/dev/null || return 0
  local line
  line=$(tail -n 1 "$root/build/models.log" 2>/dev/null)
  printf ' · %s' "${line#fovea: }"
}

wait_for_models() {
  [ -n "$fetching" ] || return 0
  local cache status=0
  cache=$(model_cache)
  while [ -t 2 ] && kill -0 "$fetching" 2>/dev/null; do
    printf '\r\033[Kfovea: built%s' "$(fetching_now)" >&2
    sleep 0.2
  done
  [ ! -t 2 ] || printf '\r\033[K' >&2
  wait "$fetching" || status=$?
  trap - EXIT
  [ "$status" -lt 128 ] || exit "$status"  # interrupted
  [ "$status" = 0 ] || tail -n 1 "$root/build/models.log" >&2
  if lacks_default_models "$cache"; then
    note "the default models could not be fetched; trying again in a day (tools/fetch_models.py says why)"
    { mkdir -p "$cache" && : >"$cache/.fetch-failed"; } 2>/dev/null || true
  else
    rm -f "$cache/.fetch-failed"
  fi
}
