# Warnings and sanitizers, as one interface target that every folder links privately.
add_library(fovea_options INTERFACE)
target_compile_options(fovea_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
                                               -Wno-sign-conversion -Wno-missing-field-initializers)
# GCC 12 sees an overlap in ordinary string concatenation (GCC bug 105651).
target_compile_options(fovea_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
if(FOVEA_WERROR)
  target_compile_options(fovea_options INTERFACE -Werror)
endif()
if(FOVEA_SANITIZE)
  add_compile_options(-fsanitize=${FOVEA_SANITIZE} -fno-omit-frame-pointer
                      -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${FOVEA_SANITIZE})
endif()

# The same for code that takes longer to compile than to run: the program's front end, and what tests consist of.
add_library(fovea_quick INTERFACE)
target_link_libraries(fovea_quick INTERFACE fovea_options)
if(FOVEA_SANITIZE)
  target_compile_options(fovea_quick INTERFACE -O0)
else()
  target_compile_options(fovea_quick INTERFACE $<$<CONFIG:Release>:-O1>)
endif()

option(FOVEA_LIBFUZZER "Build the fuzz targets with libFuzzer; needs clang" OFF)
if(FOVEA_LIBFUZZER)
  # The library is instrumented too: libFuzzer is led by the branches that an input takes.
  add_compile_options(-fsanitize=fuzzer-no-link)
  add_link_options(-fsanitize=fuzzer-no-link)
endif()

# Objects are the same wherever the checkout is, so that ccache has them for another one too.
add_compile_options(-ffile-prefix-map=${PROJECT_SOURCE_DIR}=.)
find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND PROJECT_IS_TOP_LEVEL)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} ${CCACHE_PROGRAM})
endif()
