#!/bin/sh
# Run by the image of PostgreSQL when it makes its database: the owner of Weir's tables, and a role for each program.
# `weir database roles --apply` gives them their rights.
set -eu
secrets=${SECRETS:-/run/secrets}
for name in owner gateway monitor console operator; do
  psql --no-psqlrc --set=ON_ERROR_STOP=1 --set=role="weir_$name" --set=password="$(cat "$secrets/${name}_password")" \
    --username "${POSTGRES_USER:-postgres}" --dbname "$POSTGRES_DB" << 'SQL'
create role :"role" login password :'password';
SQL
done
psql --no-psqlrc --set=ON_ERROR_STOP=1 --set=database="$POSTGRES_DB" --username "${POSTGRES_USER:-postgres}" --dbname "$POSTGRES_DB" << 'SQL'
alter database :"database" owner to weir_owner;
alter schema public owner to weir_owner;
revoke connect on database :"database" from public;
grant connect on database :"database" to weir_gateway, weir_monitor, weir_console, weir_operator;
SQL
