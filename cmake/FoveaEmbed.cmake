# fovea_embed(<out> <file>...): a source file that defines, for Inter-Regular.otf,
#   std::span<const std::byte> fovea::embedded_inter_regular_otf();
# so that the program needs no file beside it.
function(fovea_embed out)
  set(definitions "")
  foreach(file IN LISTS ARGN)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
                                           ${CMAKE_CURRENT_SOURCE_DIR}/${file})
    cmake_path(GET file FILENAME name)
    string(TOLOWER ${name} name)
    string(MAKE_C_IDENTIFIER ${name} name)
    file(READ ${file} bytes HEX)
    string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
    string(APPEND definitions
           "static const unsigned char ${name}[] = {${bytes}};\n"
           "std::span<const std::byte> embedded_${name}() {\n"
           "  return std::as_bytes(std::span(${name}));\n}\n")
  endforeach()
  cmake_path(GET CMAKE_CURRENT_SOURCE_DIR STEM folder)
  set(generated ${CMAKE_CURRENT_BINARY_DIR}/embedded_${folder}.cc)
  file(
    CONFIGURE
    OUTPUT ${generated}
    CONTENT
      "// Made by cmake/FoveaEmbed.cmake.
#include <cstddef>
#include <span>

namespace fovea {
@definitions@}
"
    @ONLY)
  set(${out} ${generated} PARENT_SCOPE)
endfunction()
