list(APPEND CMAKE_MODULE_PATH ${CMAKE_CURRENT_LIST_DIR})

# Everything fovea needs from outside; the folder that uses it is named beside it.
find_package(OpenMP REQUIRED COMPONENTS CXX) # base: parallel_for
find_package(fmt REQUIRED) # everywhere: messages
find_package(nlohmann_json REQUIRED) # base/json.cc
find_package(spdlog REQUIRED) # base/log.cc
find_package(ZLIB REQUIRED) # io: npz
find_package(OpenSSL REQUIRED COMPONENTS Crypto) # base/sha256.cc
find_package(CURL REQUIRED) # checkpoint/http.cc: headers only, loaded when used
find_package(OneDNN REQUIRED) # kernels: matmul, convolution (2.6 or 3.x)
find_package(SentencePiece REQUIRED) # text/sentence_piece.cc
find_package(PNG REQUIRED) # vision, render
find_package(JPEG REQUIRED) # vision
find_package(PkgConfig REQUIRED)
pkg_check_modules(hwy REQUIRED IMPORTED_TARGET libhwy) # kernels
pkg_check_modules(utf8proc REQUIRED IMPORTED_TARGET libutf8proc) # base/utf8.cc, text
pkg_check_modules(pcre2 REQUIRED IMPORTED_TARGET libpcre2-8) # text
pkg_check_modules(webp REQUIRED IMPORTED_TARGET libwebp libwebpdemux) # vision
if(FOVEA_TOOLS)
  find_package(CLI11 REQUIRED) # cli
  # render: figures
  pkg_check_modules(figures REQUIRED IMPORTED_TARGET cairo cairo-pdf cairo-svg pangocairo pangoft2 fontconfig)
endif()
if(FOVEA_TESTS)
  find_package(GTest REQUIRED) # tests
endif()
if(FOVEA_BENCH)
  find_package(benchmark REQUIRED) # bench
endif()
