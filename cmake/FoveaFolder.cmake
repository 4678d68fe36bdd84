# fovea_add_folder(<name> SOURCES <files> USES <folders> [PRIVATE_LIBS <targets>] [PUBLIC_LIBS <targets>] [ONE_BY_ONE])
# One folder of fovea/ is one include path and one static library, fovea::<name>. ONE_BY_ONE: its sources cannot be
# compiled in groups.
function(fovea_add_folder name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "ONE_BY_ONE" "" "SOURCES;USES;PRIVATE_LIBS;PUBLIC_LIBS")
  if(NOT arg_ONE_BY_ONE)
    fovea_group_sources(${name} arg_SOURCES ${arg_SOURCES})
  endif()
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
  set_property(GLOBAL APPEND PROPERTY FOVEA_FOLDERS ${name})
endfunction()
