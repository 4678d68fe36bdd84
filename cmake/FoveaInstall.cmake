# cmake --install: headers, static libraries, the program, and a package for find_package(fovea).
if(NOT PROJECT_IS_TOP_LEVEL)
  return() # a part of another project: that one says what it installs
endif()
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

get_property(folders GLOBAL PROPERTY FOVEA_FOLDERS)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/fovea)

foreach(folder IN LISTS folders)
  install(TARGETS fovea_${folder} EXPORT fovea ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/fovea/${folder} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/fovea
          FILES_MATCHING PATTERN "*.h" PATTERN "*-inl.h" EXCLUDE)
endforeach()
install(EXPORT fovea NAMESPACE fovea:: FILE fovea-targets.cmake DESTINATION ${package_dir})
if(TARGET fovea)
  install(TARGETS fovea RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/models/ DESTINATION ${CMAKE_INSTALL_DATADIR}/fovea/models
        PATTERN train EXCLUDE)
if(TARGET fovea-bench) # where `fovea bench` looks for it
  install(TARGETS fovea-bench RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/fovea OPTIONAL)
endif()
if(TARGET fovea-turns) # and `fovea bench --compare`
  install(TARGETS fovea-turns RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/fovea OPTIONAL)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/bench/compare DESTINATION ${CMAKE_INSTALL_DATADIR}/fovea/bench
          PATTERN __pycache__ EXCLUDE)
  install(FILES ${PROJECT_SOURCE_DIR}/tools/fixture-requirements.txt DESTINATION ${CMAKE_INSTALL_DATADIR}/fovea/tools)
endif()

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/fovea-config.cmake.in
                              ${PROJECT_BINARY_DIR}/fovea-config.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/fovea-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/fovea-config.cmake ${PROJECT_BINARY_DIR}/fovea-config-version.cmake
              ${CMAKE_CURRENT_LIST_DIR}/FindOneDNN.cmake
              ${CMAKE_CURRENT_LIST_DIR}/FindSentencePiece.cmake
        DESTINATION ${package_dir})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/NOTICE
        DESTINATION ${CMAKE_INSTALL_DOCDIR})
