/** A request that names an object of a user: `{key}` and so on stand for ids. */
export type OwnedRow = {
  /** The operation. */
  readonly id: string;
  readonly path: string;
  readonly body?: object;
  /** The answer has a result for each id, instead of 404. */
  readonly hides?: 'results';
  /** Statuses that mean that the object was found, but not what was asked for. */
  readonly also?: readonly number[];
};
/** The method of the operation. */
export type Named = { readonly method: string };

const span = 'from=2026-01-01T00:00:00Z&to=2036-01-01T00:00:00Z';

/** Every operation on an object of a user. Those that delete come last. */
export const ownedRows: readonly OwnedRow[] = [
  { id: 'users.get', path: '/users/{user}' },
  { id: 'users.update', path: '/users/{user}', body: { limits: { requests_per_minute: 500 } } },
  { id: 'users.export', path: '/users/{user}/export' },
  { id: 'credits.transactions', path: '/users/{user}/transactions' },
  { id: 'credits.post', path: '/users/{user}/transactions', body: { kind: 'top_up', usd: '5', reference: 'roles' } },
  { id: 'credits.statement', path: `/users/{user}/statement?${span}` },
  { id: 'credits.statement_export', path: `/users/{user}/statement/export?${span}` },
  { id: 'callbacks.read_secret', path: '/users/{user}/callback_secret/read' },
  { id: 'callbacks.rotate_secret', path: '/users/{user}/callback_secret/rotate' },
  { id: 'standing.get', path: '/standing?user={user}' },
  { id: 'playground.models', path: '/playground/models?user={user}' },
  { id: 'keys.create', path: '/keys', body: { user: '{user}', name: 'another' } },
  { id: 'keys.batch', path: '/keys/batch', body: { ids: ['{key}'], disabled: false }, hides: 'results' },
  { id: 'keys.get', path: '/keys/{key}' },
  { id: 'keys.update', path: '/keys/{key}', body: { disabled: false } },
  { id: 'keys.rotate', path: '/keys/{key}/rotate', body: { overlap_s: 60 } },
  // The key has an open capture.
  { id: 'captures.create', path: '/captures', body: { key_id: '{key}', calls: 1, minutes: 1 }, also: [409] },
  { id: 'models.explain', path: '/models/gpt-5-mini/explain', body: { key_id: '{key}' } },
  { id: 'models.explain', path: '/models/gpt-5-mini/explain', body: { user: '{user}' } },
  { id: 'billing_tokens.rotate', path: '/billing_tokens/{token}/rotate', body: { overlap_s: 0 } },
  { id: 'calls.get', path: '/calls/{call}' },
  { id: 'calls.get', path: '/calls/{response}' },
  { id: 'receipts.get', path: '/calls/{call}/receipt' },
  { id: 'receipts.verify', path: '/calls/{call}/receipt/verify' },
  { id: 'calls.wires', path: '/calls/{call}/wires' },
  { id: 'credits.refund', path: '/calls/{call}/refund', body: {} },
  { id: 'videos.get', path: '/videos/{video}' },
  { id: 'videos.content', path: '/videos/{video}/content' },
  { id: 'videos.receipt', path: '/videos/{video}/receipt' },
  { id: 'videos.events', path: '/videos/{video}/events' },
  { id: 'callbacks.redeliver', path: '/callbacks/{callback}/redeliver', also: [409] },
  { id: 'responses.get', path: '/responses/{response}' },
  { id: 'responses.content', path: '/responses/{response}/content' },
  { id: 'conversations.get', path: '/conversations/{conversation}' },
  { id: 'conversations.content', path: '/conversations/{conversation}/content' },
  { id: 'files.get', path: '/files/{file}' },
  { id: 'files.content', path: '/files/{file}/content' },
  { id: 'vector_stores.get', path: '/vector_stores/{store}' },
  { id: 'videos.delete', path: '/videos/{video}' },
  { id: 'responses.delete', path: '/responses/{response}' },
  { id: 'conversations.delete', path: '/conversations/{conversation}' },
  { id: 'vector_stores.delete', path: '/vector_stores/{store}' },
  { id: 'files.delete', path: '/files/{file}' },
  { id: 'captures.delete', path: '/captures/{capture}' },
  { id: 'billing_tokens.delete', path: '/billing_tokens/{token}' },
  { id: 'keys.delete', path: '/keys/{key}' },
  { id: 'users.erase', path: '/users/{user}/erase', body: { confirm: '{user}' } },
];

const listed = (whose: string, ...ids: readonly string[]): readonly (readonly [string, string])[] => ids.map((id) => [id, whose]);

/** Operations whose path names something else, and whose that is. */
export const sharedOperations: ReadonlyMap<string, string> = new Map([
  ...listed('the person of the session', 'sessions.end', 'playground.end_key', 'playground.capture', 'playground.wires'),
  ...listed('the person of the session', 'playground.relay_get', 'playground.relay_post', 'playground.relay_delete'),
  ...listed('the person who made it, or everybody', 'saved_views.get', 'saved_views.update', 'saved_views.delete'),
  ...listed('the person who began it', 'operations.get', 'operations.events', 'operations.cancel'),
  ...listed('the machine that asks to be signed in', 'device_sign_ins.get', 'device_sign_ins.approve', 'device_sign_ins.deny'),
  ...listed('people', 'people.get', 'people.update', 'people.delete', 'people.link', 'people.list_sessions', 'people.end_sessions'),
  ...listed('people', 'admin_tokens.rotate', 'admin_tokens.delete', 'audit.get'),
  ...listed('a team', 'teams.get', 'teams.update', 'teams.delete', 'credits.team_transactions', 'credits.post_team'),
  ...listed('a team', 'credits.team_statement', 'credits.team_statement_export'),
  ...listed('the books of all', 'credits.release_node', 'archives.verify', 'reconciliations.get', 'reconciliations.update'),
  ...listed('the books of all', 'reconciliations.calls', 'disputes.settle'),
  ...listed('prices', 'price_books.get', 'price_versions.get', 'price_drafts.get', 'price_drafts.update', 'price_drafts.delete'),
  ...listed('prices', 'price_drafts.diff', 'price_drafts.publish', 'price_drafts.quote', 'price_drafts.stage'),
  ...listed('the installation', 'upstreams.get', 'upstreams.history', 'upstreams.check', 'targets.get', 'targets.take_out'),
  ...listed('the installation', 'targets.put_back', 'models.get', 'models.test', 'config.layers.get'),
]);
