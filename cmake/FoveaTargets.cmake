# For which processors Highway compiles the kernels. `all`: whatever a program meets, as packages need it. `host`: the best
# that this machine has, and the plain code that runs everywhere; it takes two thirds of the time.
set(FOVEA_SIMD all CACHE STRING "Processors that kernels are compiled for: all, or the one of this host")
set_property(CACHE FOVEA_SIMD PROPERTY STRINGS all host)

# fovea_disabled_targets(<out>): the value of HWY_DISABLED_TARGETS.
function(fovea_disabled_targets out)
  if(NOT FOVEA_SIMD MATCHES "^(all|host)$")
    message(FATAL_ERROR "FOVEA_SIMD is '${FOVEA_SIMD}' but must be all or host")
  endif()
  # Those left out differ from the others in nothing that is used here. Scalable vectors (SVE, RVV) are left out because
  # vectors are kept in arrays.
  set(disabled HWY_SSSE3 HWY_AVX3_DL HWY_SVE HWY_SVE2 HWY_SVE_256 HWY_SVE2_128 HWY_RVV)
  if(FOVEA_SIMD STREQUAL host)
    set(others HWY_SSE4 HWY_AVX2 HWY_AVX3)
    fovea_host_target(host "${disabled}" ${others})
    if(host)
      list(REMOVE_ITEM others ${host})
      list(APPEND disabled ${others})
    endif()
  endif()
  list(JOIN disabled "|" disabled)
  set(${out} "(${disabled})" PARENT_SCOPE)
endfunction()

# Sets <out> to the candidate that Highway would choose for code that runs on this machine alone, or to nothing.
function(fovea_host_target out disabled)
  list(JOIN disabled "|" disabled)
  set(question "#include <hwy/detect_targets.h>\n")
  foreach(candidate IN LISTS ARGN)
    string(APPEND question "#if HWY_STATIC_TARGET == ${candidate}\nchosen ${candidate}_\n#endif\n")
  endforeach()
  list(TRANSFORM hwy_INCLUDE_DIRS PREPEND -I OUTPUT_VARIABLE includes)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/host_target.cc CONTENT "${question}" @ONLY)
  execute_process(
    COMMAND ${CMAKE_CXX_COMPILER} ${includes} -march=native "-DHWY_DISABLED_TARGETS=(${disabled})" -E -P ${PROJECT_BINARY_DIR}/host_target.cc
    OUTPUT_VARIABLE answer ERROR_QUIET)
  string(REGEX MATCH "chosen ([A-Z0-9_]+)_\n" answer "${answer}")
  set(${out} "${CMAKE_MATCH_1}" PARENT_SCOPE)
endfunction()
