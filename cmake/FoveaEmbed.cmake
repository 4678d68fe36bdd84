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

# fovea_embed_folder(<out> <folder> <function>): a source file that defines
#   std::span<const WebFile> fovea::<function>();
# with every file below the folder, which need not be there, by its path. A file.gz counts as the file, packed.
function(fovea_embed_folder out folder function)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR}/${folder} ${folder}/*)
  list(SORT files)
  set(arrays "")
  set(entries "")
  set(number 0)
  foreach(file IN LISTS files)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/${file})
    file(READ ${folder}/${file} bytes HEX)
    string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
    string(APPEND arrays "const unsigned char kFile${number}[] = {${bytes}};\n")
    set(is_gzip false)
    if(file MATCHES "\\.gz$")
      set(is_gzip true)
      string(REGEX REPLACE "\\.gz$" "" file ${file})
    endif()
    string(APPEND entries "      {\"${file}\", ${is_gzip}, std::as_bytes(std::span(kFile${number}))},\n")
    math(EXPR number "${number} + 1")
  endforeach()
  set(generated ${CMAKE_CURRENT_BINARY_DIR}/embedded_${function}.cc)
  file(
    CONFIGURE
    OUTPUT ${generated}
    CONTENT
      "// Made by cmake/FoveaEmbed.cmake.
#include <vector>

#include \"fovea/webfiles/files.h\"

namespace fovea {
namespace {

@arrays@
}  // namespace

std::span<const WebFile> @function@() {
  static const std::vector<WebFile> files{
@entries@  };
  return files;
}

}  // namespace fovea
"
    @ONLY)
  set(${out} ${generated} PARENT_SCOPE)
endfunction()
