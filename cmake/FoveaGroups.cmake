# fovea_group_sources(<name> <out> <file>...): sets <out> to what a target compiles instead of the files.
#
# Most of a file's compile time goes into headers that all files of a folder include. So files that follow each other
# are compiled together, up to FOVEA_GROUP_KB kilobytes of them; the names in their anonymous namespaces are unique within
# a folder therefore (tools/check_layout.py). A file stays alone if it is generated, so that another program may link its own in its
# place, if it has definitions of its own, or if Highway includes it once for each processor.
#
# CMake's UNITY_BUILD would group by count, not by size, and writes absolute paths, with which ccache finds nothing
# again in another checkout.
set(FOVEA_GROUP_KB 64 CACHE STRING "Kilobytes of sources that are compiled together; 0: every file alone")

if(NOT FOVEA_GROUP_KB MATCHES "^[0-9]+$")
  message(FATAL_ERROR "FOVEA_GROUP_KB is '${FOVEA_GROUP_KB}' but must be a number of kilobytes, or 0 to compile every file alone")
endif()

function(fovea_group_sources name out)
  set(${out} ${ARGN} PARENT_SCOPE)
  if(NOT FOVEA_GROUP_KB)
    return()
  endif()
  math(EXPR most "${FOVEA_GROUP_KB} * 1024")
  set(compiled "")
  set(size ${most}) # of the group that is being filled: the first file begins a new one
  foreach(source IN LISTS ARGN)
    cmake_path(ABSOLUTE_PATH source)
    get_source_file_property(definitions ${source} COMPILE_DEFINITIONS)
    file(STRINGS ${source} by_highway REGEX "^#define HWY_TARGET_INCLUDE")
    cmake_path(IS_PREFIX PROJECT_BINARY_DIR ${source} is_generated)
    if(definitions OR by_highway OR is_generated)
      list(APPEND compiled ${source})
      continue()
    endif()
    file(SIZE ${source} bytes)
    math(EXPR size "${size} + ${bytes}")
    if(size GREATER most)
      list(LENGTH compiled number)
      set(group ${CMAKE_CURRENT_BINARY_DIR}/${name}_group_${number}.cc)
      list(APPEND compiled ${group})
      set(${group} "")
      set(size ${bytes})
    endif()
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
    string(APPEND ${group} "#include \"${source}\"\n")
  endforeach()
  foreach(group IN LISTS compiled)
    if(DEFINED ${group}) # written only where it changed, so that nothing is compiled again for nothing
      file(CONFIGURE OUTPUT ${group} CONTENT "${${group}}" @ONLY)
    endif()
  endforeach()
  set(${out} ${compiled} PARENT_SCOPE)
endfunction()
