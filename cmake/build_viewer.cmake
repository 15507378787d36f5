# Installs the page's packages where they are missing or old, and builds it.  A script of viewer.cmake:
# VIEWER (AUTO or ON), DIR, NODE, NPM, HTML and C_FILE.

# Packages are as new as the lock file that npm leaves among them.
function(install_packages result)
  if(NOT ${DIR}/package-lock.json IS_NEWER_THAN ${DIR}/node_modules/.package-lock.json)
    set(${result} 0 PARENT_SCOPE)
    return()
  endif()
  execute_process(COMMAND ${NPM} ci --ignore-scripts --no-audit --no-fund --loglevel=error
    WORKING_DIRECTORY ${DIR} RESULT_VARIABLE status)
  if(status EQUAL 0)
    file(TOUCH ${DIR}/node_modules/.package-lock.json)
  endif()
  set(${result} ${status} PARENT_SCOPE)
endfunction()

# Two build directories may come here at the same time.
file(LOCK ${DIR}/.lock GUARD PROCESS TIMEOUT 600 RESULT_VARIABLE locked)
install_packages(status)
if(status EQUAL 0)
  execute_process(COMMAND ${NODE} build.mjs ${HTML} ${C_FILE} WORKING_DIRECTORY ${DIR} RESULT_VARIABLE status)
endif()
if(status EQUAL 0)
  return()
endif()

if(VIEWER STREQUAL "AUTO")
  get_filename_component(out ${C_FILE} DIRECTORY)
  message("The viewer's page could not be built (see above): the command goes without it.\n"
    "Remove ${out} to try again.")
  file(REMOVE ${HTML})
  configure_file(${CMAKE_CURRENT_LIST_DIR}/no_page.c ${C_FILE} COPYONLY)
else()
  message(FATAL_ERROR "The viewer's page could not be built (see above)")
endif()
