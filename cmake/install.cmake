# Headers, libraries, the command, and what pkg-config and find_package(Sinew) need.
# All of it can be moved: the files find each other from where they lie.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Sinew)

install(DIRECTORY include/sinew TYPE INCLUDE FILES_MATCHING PATTERN "*.h")
install(TARGETS sinew_shared sinew_static EXPORT SinewTargets
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(TARGET sinew)
  install(TARGETS sinew)
endif()
install(DIRECTORY scenes DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/sinew)
install(DIRECTORY docs/gallery DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/sinew)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/sinew)

install(EXPORT SinewTargets NAMESPACE sinew:: DESTINATION ${package_dir})
configure_package_config_file(cmake/SinewConfig.cmake.in
  ${PROJECT_BINARY_DIR}/generated/SinewConfig.cmake INSTALL_DESTINATION ${package_dir})
# Before 1.0 a new minor version may change the interface.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/generated/SinewConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/generated/SinewConfig.cmake
  ${PROJECT_BINARY_DIR}/generated/SinewConfigVersion.cmake DESTINATION ${package_dir})

# The prefix is chosen when installing, so sinew.pc says where it is by its own place.
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}" OR IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
  set(PC_PREFIX ${CMAKE_INSTALL_PREFIX})
  set(PC_LIBDIR ${CMAKE_INSTALL_FULL_LIBDIR})
  set(PC_INCLUDEDIR ${CMAKE_INSTALL_FULL_INCLUDEDIR})
else()
  file(RELATIVE_PATH up /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
  string(REGEX REPLACE "/$" "" up ${up})
  set(PC_PREFIX "\${pcfiledir}/${up}")
  set(PC_LIBDIR "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
  set(PC_INCLUDEDIR "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
endif()
configure_file(sinew.pc.in ${PROJECT_BINARY_DIR}/generated/sinew.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/generated/sinew.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
