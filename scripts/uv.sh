# Sourced from the root of the checkout: puts the uv that requirements/uv.txt pins on PATH, installing it into .uv/ first
# where it is missing, and sets $python to a Python that Compact runs on.

fail() {
    echo "compact: $*" >&2
    exit 1
}

python=
for candidate in "${PYTHON:-python3}" python3.14 python3.13 python3.12 python3.11; do
    # Running it tells more than looking for it: version managers leave stubs on PATH that only print an error.
    if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
        python=$candidate
        break
    fi
done
[ -n "$python" ] || fail "needs Python 3.11 or later, and found none. Install one, or name it: make setup PYTHON=/path/to/python3"

install_uv() {
    pip_install="-m pip install --quiet --no-cache-dir --disable-pip-version-check --require-hashes -r requirements/uv.txt"
    rm -rf .uv/bin .uv/lib .uv/lib64 .uv/include .uv/pyvenv.cfg .uv/site
    if "$python" -m venv .uv >/dev/null 2>&1; then
        .uv/bin/python $pip_install
    elif "$python" -m pip --version >/dev/null 2>&1; then
        echo "compact: this Python has no venv module; installing uv with pip alone"
        rm -rf .uv/bin && mkdir -p .uv/bin && ln -s ../site/bin/uv .uv/bin/uv &&
            PIP_ROOT_USER_ACTION=ignore "$python" $pip_install --target .uv/site
    else
        fail "needs Python's venv module or pip, and $python has neither. Debian, Ubuntu: apt install python3-venv. Fedora: dnf install python3-pip"
    fi || fail "could not install uv; pip's message is above"
    cp requirements/uv.txt .uv/installed.txt
}

if ! cmp -s requirements/uv.txt .uv/installed.txt || ! .uv/bin/uv --version >/dev/null 2>&1; then
    echo "compact: installing uv into .uv/"
    install_uv
fi
PATH=$PWD/.uv/bin:$PATH

# uv reads none of pip's configuration, so what pip is told about its index is passed on, unless uv has been told itself.
pip_python=.uv/bin/python
[ -x "$pip_python" ] || pip_python=$python
pip_settings=$("$pip_python" -m pip config list 2>/dev/null)

pip_setting() {
    echo "$pip_settings" | sed -nE "s/^(:env:|global|install)\.$1='(.*)'\$/\2/p" | head -n 1
}

if [ -z "${UV_DEFAULT_INDEX:-}${UV_INDEX_URL:-}" ] &&
    ! grep -qs index "${XDG_CONFIG_HOME:-${HOME:-}/.config}/uv/uv.toml" /etc/uv/uv.toml; then
    index=$(pip_setting index-url)
    [ -z "$index" ] || export UV_DEFAULT_INDEX="$index"
fi
if [ -z "${SSL_CERT_FILE:-}" ]; then
    certificates=$(pip_setting cert)
    [ -z "$certificates" ] || export SSL_CERT_FILE="$certificates"
fi
if [ -z "${UV_CACHE_DIR:-}${XDG_CACHE_HOME:-}" ] && [ ! -w "${HOME:-/nonexistent}" ]; then
    export UV_CACHE_DIR="$PWD/.uv/cache"
fi
