/** The rights of each program on a table. The ledger needs `add` and `read` only; its rows are never changed. */
type Rights = { readonly gateway: Right; readonly monitor: Right; readonly operator?: Right };
type Right = 'nothing' | 'read' | 'add' | 'add and change' | 'everything';

const privileges: Readonly<Record<Right, string | undefined>> = {
  nothing: undefined,
  read: 'select',
  add: 'select, insert',
  'add and change': 'select, insert, update',
  everything: 'select, insert, update, delete',
};

const gatewayOnly: Rights = { gateway: 'everything', monitor: 'nothing' };

/** Every table of the migrations. A test compares it with a server. */
const rights: Readonly<Record<string, Rights>> = {
  schema_migrations: { gateway: 'read', monitor: 'read', operator: 'read' },
  // The pepper with which secrets are hashed.
  settings: { gateway: 'read', monitor: 'read' },
  database_identity: { gateway: 'read', monitor: 'nothing' },
  counters: { gateway: 'add and change', monitor: 'read' },
  users: { gateway: 'add and change', monitor: 'nothing' },
  // Deleted keys keep their rows.
  api_keys: { gateway: 'add and change', monitor: 'nothing' },
  api_key_uses: gatewayOnly,
  billing_tokens: { gateway: 'everything', monitor: 'read' },
  // The monitor writes only the time of the last use of a token.
  billing_token_uses: { gateway: 'everything', monitor: 'add and change' },
  calls: { gateway: 'add', monitor: 'read' },
  call_shapes: { gateway: 'add', monitor: 'read' },
  usage_minutes: { gateway: 'add and change', monitor: 'read' },
  usage_hours: { gateway: 'add and change', monitor: 'read' },
  ledger_accounts: { gateway: 'add and change', monitor: 'read' },
  ledger_transactions: { gateway: 'add', monitor: 'read' },
  ledger_postings: { gateway: 'add', monitor: 'read' },
  spend_periods: { gateway: 'add and change', monitor: 'read' },
  credit_nodes: gatewayOnly,
  credit_leases: gatewayOnly,
  // Days are added up again for another time zone.
  usage_days: { gateway: 'everything', monitor: 'read' },
  usage_day_zone: { gateway: 'add and change', monitor: 'read' },
  usage_price_versions: { gateway: 'add', monitor: 'read' },
  // Prices are published with a role of their own: a gateway cannot change prices.
  price_books: { gateway: 'read', monitor: 'read', operator: 'add' },
  price_versions: { gateway: 'add', monitor: 'read', operator: 'read' },
  reasoning_proofs: gatewayOnly,
  responses: gatewayOnly,
  response_items: gatewayOnly,
  response_events: gatewayOnly,
  conversations: gatewayOnly,
  conversation_items: gatewayOnly,
  files: gatewayOnly,
  file_pieces: gatewayOnly,
  vector_stores: gatewayOnly,
  file_batches: gatewayOnly,
  store_files: gatewayOnly,
  chunks: gatewayOnly,
  video_tasks: gatewayOnly,
  video_requests: gatewayOnly,
  video_idempotency: gatewayOnly,
  idempotency_keys: gatewayOnly,
  idempotency_chunks: gatewayOnly,
  pictures: gatewayOnly,
  callback_deliveries: gatewayOnly,
  callback_secrets: gatewayOnly,
  // Rows are only ever added; the head is the sequence and hash of the last one.
  audit_log: { gateway: 'add', monitor: 'nothing', operator: 'add' },
  audit_head: { gateway: 'add and change', monitor: 'nothing', operator: 'add and change' },
};

/** The tables for which roles have rights. */
export const tablesWithRights: readonly string[] = Object.keys(rights);

export type RoleNames = { readonly gateway: string; readonly monitor: string; readonly operator: string };

/**
 * Statements that give three roles the rights that their programs need and nothing else. They create missing roles
 * without a password. They can run again, and must after each upgrade. The owner of the tables must run them, with the
 * right to create roles.
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

/** A name quoted for SQL. Throws RangeError for a name that PostgreSQL would cut or that could end the statement. */
function quote(name: string): string {
  if (!/^[A-Za-z_][A-Za-z0-9_-]{0,62}$/.test(name))
    throw new RangeError(`The name of a role must be 1 to 63 letters, digits, _ and -; got "${name}".`);
  return `"${name}"`;
}
