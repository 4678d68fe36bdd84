# Runs PROGRAM on a copy of CORPUS in the folder WORK: libFuzzer adds what it finds to the folder it
# is given, and the corpus in the repository must stay as it is.
file(REMOVE_RECURSE ${WORK})
file(COPY ${CORPUS}/ DESTINATION ${WORK}/corpus)
execute_process(COMMAND ${PROGRAM} -runs=20000 -max_total_time=20 -max_len=4096 -seed=1
                        -artifact_prefix=${WORK}/ ${WORK}/corpus RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${PROGRAM} found something; the input is in ${WORK}")
endif()
