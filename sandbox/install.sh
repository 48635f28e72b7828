#!/bin/sh
# Runs inside the first stage of the image: pytest first, then the project's requirements, and
# between the two a picture of pytest's files that must still be true at the end.
set -eu
cd /build
venv=/opt/venv
export PIP_CONFIG_FILE=/build/pip.conf PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1
export PIP_ROOT_USER_ACTION=ignore
if [ -s ca.pem ]; then
    export PIP_CERT=/build/ca.pem SSL_CERT_FILE=/build/ca.pem REQUESTS_CA_BUNDLE=/build/ca.pem
fi
python3 -m venv "$venv"
"$venv/bin/python" -I -m pip install --quiet --no-cache-dir -r pytest.txt
"$venv/bin/python" -I verify_pytest.py snapshot picture.json held.txt
if [ -s requirements.txt ]; then
    "$venv/bin/python" -I -m pip install --quiet --no-cache-dir -r requirements.txt -c held.txt
fi
"$venv/bin/python" -I verify_pytest.py check picture.json
