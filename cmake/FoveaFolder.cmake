# fovea_add_folder(<name> SOURCES <files> USES <folders> [PRIVATE_LIBS <targets>] [PUBLIC_LIBS <targets>] [COLD])
# One folder of fovea/ is one include path and one static library, fovea::<name>. COLD: it leaves work on many numbers or bytes
# to other folders, so that a release build optimizes it less, which takes less time.
function(fovea_add_folder name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "COLD" "" "SOURCES;USES;PRIVATE_LIBS;PUBLIC_LIBS")
  fovea_group_sources(${name} arg_SOURCES ${arg_SOURCES})
  add_library(fovea_${name} STATIC ${arg_SOURCES})
  add_library(fovea::${name} ALIAS fovea_${name})
  set_target_properties(fovea_${name} PROPERTIES EXPORT_NAME ${name})
  target_compile_features(fovea_${name} PUBLIC cxx_std_20)
  target_include_directories(
    fovea_${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
                         $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/generated>
                         $<INSTALL_INTERFACE:include>)
  list(TRANSFORM arg_USES PREPEND fovea::)
  target_link_libraries(fovea_${name} PUBLIC ${arg_USES} ${arg_PUBLIC_LIBS}
                        PRIVATE $<BUILD_INTERFACE:fovea_options> ${arg_PRIVATE_LIBS})
  if(arg_COLD)
    target_compile_options(fovea_${name} PRIVATE $<$<CONFIG:Release>:-O2>)
  endif()
  set_property(GLOBAL APPEND PROPERTY FOVEA_FOLDERS ${name})
endfunction()
