#!/usr/bin/env bash
# Says what this machine lacks to build Delta Upkeep, a line for each, before anything is downloaded.
set -u

python=${PYTHON:-python3}
java_home_bin=${JAVA_HOME:+$JAVA_HOME/bin/}
missing=0

need() {
  echo "missing: $1" >&2
  missing=1
}

java=${java_home_bin}java
if ! command -v "$java" >/dev/null; then
  need "Java 17. Install a JDK 17 and put java on the PATH, or set JAVA_HOME."
else
  version=$("$java" -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p' | head -n 1)
  if [ "${version:-0}" -lt 17 ]; then
    need "Java 17 or newer; '$java' is version ${version:-unknown}. Install a JDK 17 or set JAVA_HOME to one."
  elif ! command -v "${java_home_bin}javac" >/dev/null; then
    need "javac; '$java' belongs to a runtime without a compiler. Install the JDK, not the JRE."
  fi
fi

if ! command -v "$python" >/dev/null; then
  need "Python 3.11 or newer; there is no '$python'. Install it or set PYTHON=/path/to/python3."
elif ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
  need "Python 3.11 or newer; '$python' is $("$python" -V 2>&1). Set PYTHON=/path/to/a/newer/python3."
elif ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
  need "Python's venv module for '$python'. On Debian and Ubuntu: apt-get install python3-venv."
fi

command -v git >/dev/null || need "git. Install it with the package manager of this system."

free_mib=$(df -Pm . | awk 'NR == 2 { print $4 }')
if [ "$free_mib" -lt 3072 ]; then
  need "disk space: the build needs 3 GiB here and $free_mib MiB are free."
fi

exit "$missing"
