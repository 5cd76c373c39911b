/**
 * The rights of each program on a table; absent means none. The ledger needs `add` and `read` only; its rows are never
 * changed.
 */
type Rights = { readonly gateway: Right; readonly monitor: Right; readonly operator?: Right; readonly console?: Right };
type Right = 'nothing' | 'read' | 'delete' | 'add' | 'add and change' | 'change and delete' | 'everything';

const privileges: Readonly<Record<Right, string | undefined>> = {
  nothing: undefined,
  read: 'select',
  delete: 'select, delete',
  add: 'select, insert',
  'add and change': 'select, insert, update',
  'change and delete': 'select, update, delete',
  everything: 'select, insert, update, delete',
};

const gatewayOnly: Rights = { gateway: 'everything', monitor: 'nothing' };
/** What users have stored. The console lists and deletes it; it adds nothing. */
const stored: Rights = { gateway: 'everything', monitor: 'nothing', console: 'change and delete' };
/** A gateway, which faces clients, cannot make itself a person who administers it. */
const consoleOnly: Rights = { gateway: 'nothing', monitor: 'nothing', console: 'everything' };

/** Every table of the migrations. A test compares it with a server. */
const rights: Readonly<Record<string, Rights>> = {
  schema_migrations: { gateway: 'read', monitor: 'read', operator: 'read', console: 'read' },
  // The pepper with which secrets are hashed.
  settings: { gateway: 'read', monitor: 'read', console: 'read' },
  database_identity: { gateway: 'read', monitor: 'nothing', console: 'read' },
  counters: { gateway: 'add and change', monitor: 'read', console: 'add and change' },
  users: { gateway: 'add and change', monitor: 'nothing', console: 'add and change' },
  // Deleted teams and keys keep their rows.
  teams: { gateway: 'add and change', monitor: 'nothing', console: 'add and change' },
  organization: { gateway: 'add and change', monitor: 'nothing', console: 'add and change' },
  api_keys: { gateway: 'add and change', monitor: 'nothing', console: 'add and change' },
  api_key_uses: { gateway: 'everything', monitor: 'nothing', console: 'everything' },
  billing_tokens: { gateway: 'everything', monitor: 'read', console: 'everything' },
  // The monitor writes only the time of the last use of a token.
  billing_token_uses: { gateway: 'everything', monitor: 'add and change', console: 'everything' },
  calls: { gateway: 'add', monitor: 'read', console: 'read' },
  // Calls are archived by the owner of the tables, or by a console that may.
  call_archives: { gateway: 'read', monitor: 'read', console: 'read' },
  call_retention: { gateway: 'read', monitor: 'read', console: 'read' },
  archived_spend: { gateway: 'read', monitor: 'read', console: 'read' },
  call_shapes: { gateway: 'add', monitor: 'read', console: 'read' },
  // Facts about calls are written after their booking; calls that wait for it are in the queue.
  fact_names: { gateway: 'add', monitor: 'read', console: 'read' },
  fact_tags: { gateway: 'add', monitor: 'read', console: 'read' },
  call_facts: { gateway: 'add and change', monitor: 'read', console: 'read' },
  call_follow: { gateway: 'add and change', monitor: 'read', console: 'read' },
  // Hours are added up again after a late call, and days are deleted.
  call_packs: { gateway: 'everything', monitor: 'read', console: 'read' },
  call_queue: { gateway: 'everything', monitor: 'read', console: 'read' },
  service_minutes: { gateway: 'everything', monitor: 'read', console: 'read' },
  service_hours: { gateway: 'add and change', monitor: 'read', console: 'read' },
  // Days are deleted if the time zone changes.
  service_days: { gateway: 'everything', monitor: 'read', console: 'read' },
  usage_minutes: { gateway: 'add and change', monitor: 'read', console: 'read' },
  usage_hours: { gateway: 'add and change', monitor: 'read', console: 'read' },
  ledger_accounts: { gateway: 'add and change', monitor: 'read', console: 'add and change' },
  ledger_transactions: { gateway: 'add', monitor: 'read', console: 'add' },
  book_verifications: { gateway: 'everything', monitor: 'read', operator: 'read', console: 'everything' },
  ledger_postings: { gateway: 'add', monitor: 'read', console: 'add' },
  spend_periods: { gateway: 'add and change', monitor: 'read', console: 'add and change' },
  group_spend: { gateway: 'add and change', monitor: 'read', console: 'add and change' },
  // An operator takes back the leases of a gateway that is gone.
  credit_nodes: stored,
  credit_leases: stored,
  // Days are added up again for another time zone.
  usage_days: { gateway: 'everything', monitor: 'read', console: 'read' },
  usage_packs: { gateway: 'everything', monitor: 'read', console: 'read' },
  usage_day_zone: { gateway: 'add and change', monitor: 'read', console: 'read' },
  usage_price_versions: { gateway: 'add', monitor: 'read', console: 'read' },
  // Prices are published with a role of their own: a gateway cannot change prices.
  price_books: { gateway: 'read', monitor: 'read', operator: 'add', console: 'read' },
  price_drafts: consoleOnly,
  saved_views: consoleOnly,
  reconciliations: consoleOnly,
  price_versions: { gateway: 'add', monitor: 'read', operator: 'read', console: 'read' },
  reasoning_proofs: gatewayOnly,
  responses: stored,
  response_items: stored,
  response_events: stored,
  conversations: stored,
  conversation_items: stored,
  files: stored,
  file_pieces: stored,
  vector_stores: stored,
  file_batches: stored,
  store_files: stored,
  chunks: stored,
  video_tasks: stored,
  video_requests: stored,
  video_idempotency: stored,
  // The console answers repeated requests of its own too.
  idempotency_keys: { gateway: 'everything', monitor: 'nothing', console: 'everything' },
  idempotency_chunks: { gateway: 'everything', monitor: 'nothing', console: 'everything' },
  pictures: stored,
  callback_deliveries: stored,
  callback_secrets: { gateway: 'everything', monitor: 'nothing', console: 'add and change' },
  people: consoleOnly,
  person_users: consoleOnly,
  console_sessions: consoleOnly,
  // Sealed secrets of keys: a gateway knows keys by their hashes.
  playground_keys: consoleOnly,
  sign_in_codes: consoleOnly,
  admin_tokens: consoleOnly,
  admin_token_uses: consoleOnly,
  device_sign_ins: consoleOnly,
  key_sessions: consoleOnly,
  // The console and commands list what a gateway has found.
  alerts: { gateway: 'everything', monitor: 'read', operator: 'read', console: 'read' },
  alert_node_reports: gatewayOnly,
  audit_sinks: gatewayOnly,
  // The console orders captures; gateways keep the calls, which both delete.
  captures: { gateway: 'change and delete', monitor: 'nothing', console: 'everything' },
  captured_calls: { gateway: 'everything', monitor: 'nothing', console: 'change and delete' },
  content_objects: { gateway: 'everything', monitor: 'nothing', console: 'change and delete' },
  content_erasures: { gateway: 'add and change', monitor: 'nothing', console: 'add and change' },
  alert_notices: { gateway: 'everything', monitor: 'read', operator: 'read', console: 'read' },
  // Refused requests are deleted after some days.
  refusals: { gateway: 'everything', monitor: 'nothing', operator: 'read', console: 'read' },
  // A gateway runs what needs an upstream, the console the rest.
  // The reports say how many calls are still in journals, which every reader of the books shows.
  node_reports: { gateway: 'everything', monitor: 'read', console: 'read' },
  target_overrides: { gateway: 'read', monitor: 'nothing', console: 'everything' },
  control_signals: { gateway: 'read', monitor: 'nothing', console: 'add and change' },
  limit_questions: { gateway: 'read', monitor: 'nothing', console: 'everything' },
  // A gateway, which faces clients, cannot change where calls go.
  config_layers: { gateway: 'read', monitor: 'nothing', console: 'read' },
  operations: { gateway: 'everything', monitor: 'nothing', console: 'everything' },
  // Rows are only ever added; the head is the sequence and hash of the last one.
  audit_log: { gateway: 'add', monitor: 'nothing', operator: 'add', console: 'add' },
  audit_head: { gateway: 'add and change', monitor: 'nothing', operator: 'add and change', console: 'add and change' },
};

/** The tables for which roles have rights. */
export const tablesWithRights: readonly string[] = Object.keys(rights);

/** A trigger permits this only for calls that a verified archive has. */
const archiving = {
  calls: 'delete',
  call_archives: 'add and change',
  call_retention: 'add and change',
  archived_spend: 'add and change',
} as const satisfies Readonly<Record<string, Right>>;

export type RoleOptions = {
  /** Whether the console may publish prices, which weir_operator may in any case. */
  readonly consolePublishes?: boolean;
  /** Whether the console may publish layers of the configuration. */
  readonly consoleEditsConfig?: boolean;
  /** Whether the console may drop calls that are in verified archives. */
  readonly consoleArchives?: boolean;
};
export type RoleNames = { readonly gateway: string; readonly monitor: string; readonly operator: string; readonly console: string };

/**
 * Statements that give four roles the rights that their programs need and nothing else. They create missing roles
 * without a password. They can run again, and must after each upgrade. The owner of the tables must run them, with the
 * right to create roles if one is missing.
 */
export function describeRoles(names: RoleNames, options: RoleOptions = {}): string {
  const roles = (['gateway', 'monitor', 'operator', 'console'] as const).map((program) => ({ program, name: quote(names[program]) }));
  const lines: string[] = [];
  // The right to create roles is needed only for missing ones.
  for (const { program, name } of roles) {
    const exists = `select from pg_roles where rolname = '${names[program]}'`;
    lines.push(
      `do $$ begin if not exists (${exists}) then create role ${name} login; end if; exception when duplicate_object then null; end $$;`,
    );
  }
  const all = roles.map(({ name }) => name).join(', ');
  lines.push(`grant usage on schema public to ${all};`, `revoke create on schema public from ${all}, public;`);
  lines.push(`revoke all on all tables in schema public from ${all}, public;`);
  const added: Readonly<Record<string, Right>> = {
    ...(options.consolePublishes === true && { price_books: 'add' }),
    ...(options.consoleEditsConfig === true && { config_layers: 'add' }),
    ...(options.consoleArchives === true && archiving),
  };
  for (const { program, name } of roles) {
    for (const [table, right] of Object.entries(rights)) {
      const granted = privileges[(program === 'console' ? added[table] : undefined) ?? right[program] ?? 'nothing'];
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
