# cpack -G DEB: a package for each part of FoveaInstall.cmake, named as Debian names them.
if(NOT PROJECT_IS_TOP_LEVEL OR NOT FOVEA_TOOLS)
  return()
endif()
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME fovea)
set(CPACK_PACKAGE_VENDOR "fovea developers")
set(CPACK_PACKAGE_CONTACT "fovea developers <fovea@example.org>")
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
                                                WORLD_READ WORLD_EXECUTE)
set(CPACK_COMPONENTS_ALL program development)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "attention maps of transformers: what a model is looking at")
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION
    "Opens checkpoints as people download them (Hugging Face folders, GGUF files),
runs them, and gives every attention map of every head of every layer, exactly
and at any length: in the terminal, as a figure, as an offline page or as
numbers. Small models for translation, pictures and detection are included.")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME fovea)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SHLIBDEPS ON)
# libcurl is loaded when something is downloaded; Python runs the fetching of models and the side-by-side benchmark.
set(CPACK_DEBIAN_PROGRAM_PACKAGE_RECOMMENDS "libcurl4, ca-certificates, python3, python3-venv")

set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION
    "This package holds headers, static libraries and the files that CMake needs for
find_package(fovea).")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libfovea-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
# What fovea-config.cmake looks for.
string(JOIN ", " CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
       libdnnl-dev libhwy-dev libfmt-dev libspdlog-dev zlib1g-dev libssl-dev libpng-dev libjpeg-dev libsentencepiece-dev
       libutf8proc-dev libpcre2-dev libwebp-dev libcairo2-dev libpango1.0-dev libfontconfig-dev pkg-config)

# Debian wants one of its own form beside each package's copyright.
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC) # or SOURCE_DATE_EPOCH
configure_file(${CMAKE_CURRENT_LIST_DIR}/changelog.in ${PROJECT_BINARY_DIR}/changelog @ONLY)
execute_process(COMMAND gzip -9nf changelog WORKING_DIRECTORY ${PROJECT_BINARY_DIR} COMMAND_ERROR_IS_FATAL ANY)
install(FILES ${PROJECT_BINARY_DIR}/changelog.gz DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)
install(FILES ${PROJECT_BINARY_DIR}/changelog.gz DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libfovea-dev
        COMPONENT development)
include(CPack)
