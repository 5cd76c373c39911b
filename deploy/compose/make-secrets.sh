#!/bin/sh
# Writes the secrets of compose.yaml: random ones, and empty files for the keys of vendors. It replaces none that exists.
# Containers read the files as other users, so the files can be read; the folder only by its owner.
set -eu
folder=${1:-$(dirname "$0")/../secrets}
mkdir -p "$folder"
chmod 700 "$folder"
cd "$folder"
umask 022

random() { head -c 32 /dev/urandom | od -An -v -tx1 | tr -d ' \n'; }
put() { [ -e "$1" ] || { printf '%s\n' "$2" > "$1.new"; mv "$1.new" "$1"; }; }

for name in postgres owner gateway monitor console operator grafana; do put "${name}_password" "$(random)"; done
# The server is in the same private network, so connections to it are not encrypted.
for name in owner gateway monitor console; do
  put "${name}_url" "postgresql://weir_$name:$(cat "${name}_password")@postgres/weir?sslmode=disable"
done
put proof_key "$(random)"
put first_api_key "sk-weir-$(random)"
put first_billing_token "bt-weir-$(random)"
put objects_access_key "$(random | cut -c 1-20)"
put objects_secret_key "$(random)"
put objects_identities "{\"identities\":[{\"name\":\"weir\",\"credentials\":[{\"accessKey\":\"$(cat objects_access_key)\",\"secretKey\":\"$(cat objects_secret_key)\"}],\"actions\":[\"Read:weir\",\"Write:weir\",\"List:weir\",\"Tagging:weir\"]}]}"
for name in openai anthropic gemini xai; do put "${name}_api_key" ''; done
echo "The secrets are in $(pwd). Write the keys of your vendors into *_api_key there."
