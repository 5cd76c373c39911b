#!/bin/sh
# Runs a command of Weir on the data of the installed services and with their settings; for root, as their user.
set -a
: "${WEIR_DATA_DIR:=/var/lib/weir}" "${WEIR_CONFIG:=/etc/weir/weir.yaml}"
if [ -r /etc/weir/weir.env ]; then . /etc/weir/weir.env; fi
set +a
if [ "$(id -u)" -ne 0 ]; then exec /usr/lib/weir/weir "$@"; fi
exec setpriv --reuid weir --regid weir --init-groups -- /usr/lib/weir/weir "$@"
