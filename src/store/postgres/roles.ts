/** What a program may do with the rows of a table. `add` and `read` together are what books need; rows of the ledger are never changed. */
type Rights = { readonly gateway: Right; readonly monitor: Right; readonly operator?: Right };
type Right = 'nothing' | 'read' | 'add' | 'add and change' | 'everything';

const privileges: Readonly<Record<Right, string | undefined>> = {
  nothing: undefined,
  read: 'select',
  add: 'select, insert',
  'add and change': 'select, insert, update',
  everything: 'select, insert, update, delete',
};

const kept: Rights = { gateway: 'everything', monitor: 'nothing' };

/** Every table that a migration makes. A test holds it against a server. */
const rights: Readonly<Record<string, Rights>> = {
  schema_migrations: { gateway: 'read', monitor: 'read', operator: 'read' },
  // The pepper, with which secrets are hashed.
  settings: { gateway: 'read', monitor: 'read' },
  database_identity: { gateway: 'read', monitor: 'nothing' },
  counters: { gateway: 'add and change', monitor: 'read' },
  users: { gateway: 'add and change', monitor: 'nothing' },
  // Deleted keys keep their rows.
  api_keys: { gateway: 'add and change', monitor: 'nothing' },
  billing_tokens: { gateway: 'everything', monitor: 'read' },
  // When a token was used last is all that a monitor writes.
  billing_token_uses: { gateway: 'everything', monitor: 'add and change' },
  calls: { gateway: 'add', monitor: 'read' },
  usage_minutes: { gateway: 'add and change', monitor: 'read' },
  usage_hours: { gateway: 'add and change', monitor: 'read' },
  ledger_accounts: { gateway: 'add and change', monitor: 'read' },
  ledger_transactions: { gateway: 'add', monitor: 'read' },
  ledger_postings: { gateway: 'add', monitor: 'read' },
  spend_periods: { gateway: 'add and change', monitor: 'read' },
  credit_nodes: kept,
  credit_leases: kept,
  // Added up anew for another time zone.
  usage_days: { gateway: 'everything', monitor: 'read' },
  usage_day_zone: { gateway: 'add and change', monitor: 'read' },
  usage_price_versions: { gateway: 'add', monitor: 'read' },
  // Whoever publishes prices does so with a role of his own: no gateway makes its own prices.
  price_books: { gateway: 'read', monitor: 'read', operator: 'add' },
  price_versions: { gateway: 'add', monitor: 'read', operator: 'read' },
  reasoning_proofs: kept,
  responses: kept,
  response_items: kept,
  response_events: kept,
  conversations: kept,
  conversation_items: kept,
  files: kept,
  file_pieces: kept,
  vector_stores: kept,
  file_batches: kept,
  store_files: kept,
  chunks: kept,
  video_tasks: kept,
  video_requests: kept,
  video_idempotency: kept,
  idempotency_keys: kept,
  idempotency_chunks: kept,
  pictures: kept,
  callback_deliveries: kept,
  callback_secrets: kept,
};

/** The tables that roles are told of. */
export const tablesWithRights: readonly string[] = Object.keys(rights);

export type RoleNames = { readonly gateway: string; readonly monitor: string; readonly operator: string };

/**
 * Statements that give three roles what their programs need and nothing else. They make the roles where they are missing, without a password; they may be run again, after each upgrade too. To be run
 * by the owner of the tables, who has to be allowed to make roles.
 */
export function describeRoles(names: RoleNames): string {
  const roles = (['gateway', 'monitor', 'operator'] as const).map((program) => ({ program, name: quote(names[program]) }));
  const lines: string[] = [];
  for (const { name } of roles) lines.push(`do $$ begin create role ${name} login; exception when duplicate_object then null; end $$;`);
  const all = roles.map(({ name }) => name).join(', ');
  lines.push(`grant usage on schema public to ${all};`, `revoke create on schema public from ${all}, public;`);
  lines.push(`revoke all on all tables in schema public from ${all}, public;`);
  for (const { program, name } of roles) {
    for (const [table, right] of Object.entries(rights)) {
      const granted = privileges[right[program] ?? 'nothing'];
      if (granted !== undefined) lines.push(`grant ${granted} on ${table} to ${name};`);
    }
  }
  return lines.join('\n');
}

/** A name as SQL has it. Throws RangeError for one that PostgreSQL would cut or that could end the statement that it stands in. */
function quote(name: string): string {
  if (!/^[A-Za-z_][A-Za-z0-9_-]{0,62}$/.test(name))
    throw new RangeError(`"${name}" is no name for a role: letters, digits, _ and -, at most 63.`);
  return `"${name}"`;
}
