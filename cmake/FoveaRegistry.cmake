# fovea_add_registry(<name> TYPE <Type> SUFFIX <suffix> HEADER <header> FUNCTION <function> OUT <var>)
# The folder is the registry: every <file>.cc in the current folder must define
# fovea::<file>_<suffix>(), and the generated source defines
#   std::vector<Type> fovea::<function>();
# which calls them all in the order of their names. Adding one is adding a file.
function(fovea_add_registry)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "FOLDER;TYPE;SUFFIX;HEADER;FUNCTION;OUT" "")
  file(GLOB sources CONFIGURE_DEPENDS "${arg_FOLDER}/*.cc")
  list(SORT sources)
  set(declarations "")
  set(calls "")
  foreach(source IN LISTS sources)
    cmake_path(GET source STEM stem)
    string(APPEND declarations "${arg_TYPE} ${stem}_${arg_SUFFIX}();\n")
    string(APPEND calls "      ${stem}_${arg_SUFFIX}(),\n")
  endforeach()
  set(generated ${CMAKE_CURRENT_BINARY_DIR}/${arg_FUNCTION}.cc)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/registry.cc.in ${generated} @ONLY)
  set(${arg_OUT} ${sources} ${generated} PARENT_SCOPE)
endfunction()
