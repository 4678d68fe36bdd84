# cmake --install, in two parts: `program` is fovea with its models, manual and completion scripts; `development` is
# headers, static libraries and a package for find_package(fovea). FoveaPackage.cmake makes a .deb of each.
if(NOT PROJECT_IS_TOP_LEVEL)
  return() # a part of another project: that one says what it installs
endif()
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

# What a licence asks to be told goes with either part.
file(READ ${PROJECT_SOURCE_DIR}/NOTICE notice)
file(READ ${PROJECT_SOURCE_DIR}/fovea/render/fonts/OFL.txt font_licence)
configure_file(${CMAKE_CURRENT_LIST_DIR}/copyright.in ${PROJECT_BINARY_DIR}/copyright @ONLY)
set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/NOTICE)

# Not in packages: Debian has one for all.
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT licence)

if(TARGET fovea)
  set(data_dir ${CMAKE_INSTALL_DATADIR}/fovea)
  install(TARGETS fovea RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/models/ DESTINATION ${data_dir}/models COMPONENT program
          PATTERN train EXCLUDE)
  install(FILES ${PROJECT_SOURCE_DIR}/tools/fetch_models.py DESTINATION ${data_dir}/tools COMPONENT program)
  install(FILES ${PROJECT_SOURCE_DIR}/NOTICE ${PROJECT_BINARY_DIR}/copyright
          DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)

  set(manual ${PROJECT_BINARY_DIR}/manual)
  install(DIRECTORY ${manual}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT program
          FILES_MATCHING PATTERN "*.1.gz")
  install(FILES ${manual}/fovea.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
          RENAME fovea COMPONENT program)
  install(FILES ${manual}/fovea.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d
          COMPONENT program)
  # Debian's zsh looks elsewhere for what packages bring than for what is installed by hand.
  install(CODE [[
    set(zsh_folder site-functions)
    if(CMAKE_INSTALL_PREFIX STREQUAL "/usr" AND EXISTS "/etc/debian_version")
      set(zsh_folder vendor-completions)
    endif()
  ]] COMPONENT program)
  install(FILES ${manual}/fovea.zsh DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/\${zsh_folder}
          RENAME _fovea COMPONENT program)
endif()
if(TARGET fovea-bench) # where `fovea bench` looks for it
  install(TARGETS fovea-bench RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/fovea COMPONENT program OPTIONAL)
endif()
if(TARGET fovea-turns) # and `fovea bench --compare`
  install(TARGETS fovea-turns RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/fovea COMPONENT program OPTIONAL)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/bench/compare DESTINATION ${CMAKE_INSTALL_DATADIR}/fovea/bench
          COMPONENT program PATTERN __pycache__ EXCLUDE)
  install(FILES ${PROJECT_SOURCE_DIR}/tools/fixture-requirements.txt ${PROJECT_SOURCE_DIR}/tools/make_random_model.py
          DESTINATION ${CMAKE_INSTALL_DATADIR}/fovea/tools COMPONENT program)
endif()

get_property(folders GLOBAL PROPERTY FOVEA_FOLDERS)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/fovea)
foreach(folder IN LISTS folders)
  install(TARGETS fovea_${folder} EXPORT fovea
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/fovea/${folder} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/fovea
          COMPONENT development FILES_MATCHING PATTERN "*.h" PATTERN "*-inl.h" EXCLUDE PATTERN fonts EXCLUDE)
endforeach()
install(EXPORT fovea NAMESPACE fovea:: FILE fovea-targets.cmake DESTINATION ${package_dir} COMPONENT development)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/fovea-config.cmake.in
                              ${PROJECT_BINARY_DIR}/fovea-config.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/fovea-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/fovea-config.cmake ${PROJECT_BINARY_DIR}/fovea-config-version.cmake
              ${CMAKE_CURRENT_LIST_DIR}/FindOneDNN.cmake
              ${CMAKE_CURRENT_LIST_DIR}/FindSentencePiece.cmake
        DESTINATION ${package_dir} COMPONENT development)
install(FILES ${PROJECT_BINARY_DIR}/copyright DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libfovea-dev
        COMPONENT development)
