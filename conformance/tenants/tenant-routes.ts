/** Ids of one user's objects, or of no object, by their names in a template. */
export type Ids = Readonly<Record<IdKind, string>>;

export type IdKind =
  | 'response'
  | 'conversation'
  | 'item'
  | 'file'
  | 'store'
  | 'storeFile'
  | 'batch'
  | 'callback'
  | 'video'
  | 'image'
  | 'receipt';

/** One way to name an object: by the route that it uses, so that a route without a row is noticed. */
export type TenantRow = {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** The route as the table has it, with its parameters. */
  readonly route: string;
  /** The request path, if it is more than the route with the ids in it; `{response}` and so on stand for ids. */
  readonly path: string;
  readonly body?: unknown;
};

function row(method: TenantRow['method'], route: string, path: string, body?: unknown): TenantRow {
  return { method, route, path, ...(body === undefined ? {} : { body }) };
}

const intruder = [{ role: 'user', content: 'intruder' }];
const reference = [{ type: 'item_reference', id: '{item}' }];

const storedRows: readonly TenantRow[] = [
  row('GET', '/responses/:id', '/responses/{response}'),
  row('GET', '/responses/:id', '/responses/{response}?include[]=reasoning.encrypted_content'),
  row('GET', '/responses/:id', '/responses/{response}?stream=true&starting_after=0'),
  row('GET', '/responses/:id/input_items', '/responses/{response}/input_items'),
  row('GET', '/responses/:id/input_items', '/responses/{response}/input_items?after={item}'),
  row('POST', '/responses/:id/cancel', '/responses/{response}/cancel'),
  row('DELETE', '/responses/:id', '/responses/{response}'),
  row('GET', '/conversations/:id', '/conversations/{conversation}'),
  row('POST', '/conversations/:id', '/conversations/{conversation}', { metadata: { taken: 'over' } }),
  row('DELETE', '/conversations/:id', '/conversations/{conversation}'),
  row('GET', '/conversations/:id/items', '/conversations/{conversation}/items'),
  row('GET', '/conversations/:id/items', '/conversations/{conversation}/items?after={item}'),
  row('POST', '/conversations/:id/items', '/conversations/{conversation}/items', { items: intruder }),
  row('POST', '/conversations/:id/items', '/conversations/{conversation}/items', { items: reference }),
  row('GET', '/conversations/:id/items/:itemId', '/conversations/{conversation}/items/{item}'),
  row('DELETE', '/conversations/:id/items/:itemId', '/conversations/{conversation}/items/{item}'),
];

const receiptRows: readonly TenantRow[] = [row('GET', '/receipts/:id', '/receipts/{receipt}')];

/** The history of a quoted request is looked up like that of a call. */
const quote = (path: string, body: object): TenantRow => row('POST', '/quote', '/quote', { path, body: { model: 'gpt-4.1', ...body } });
const quoteRows: readonly TenantRow[] = [
  quote('/v1/responses', { previous_response_id: '{response}', input: 'go on' }),
  quote('/v1/responses', { conversation: '{conversation}', input: 'go on' }),
  quote('/v1/videos/{video}/remix', { prompt: 'taken over' }),
];

const callbackRows: readonly TenantRow[] = [row('POST', '/callbacks/:id/redeliver', '/callbacks/{callback}/redeliver')];

const fileRows: readonly TenantRow[] = [
  row('GET', 'files/*', '/files/{file}'),
  row('GET', 'files/*/content', '/files/{file}/content'),
  row('DELETE', 'files/*', '/files/{file}'),
  row('GET', 'vector_stores/*', '/vector_stores/{store}'),
  row('POST', 'vector_stores/*', '/vector_stores/{store}', { name: 'taken over' }),
  row('DELETE', 'vector_stores/*', '/vector_stores/{store}'),
  row('POST', 'vector_stores/*/search', '/vector_stores/{store}/search', { query: 'secret' }),
  row('GET', 'vector_stores/*/files', '/vector_stores/{store}/files'),
  row('GET', 'vector_stores/*/files', '/vector_stores/{store}/files?after={storeFile}'),
  row('POST', 'vector_stores/*/files', '/vector_stores/{store}/files', { file_id: '{file}' }),
  row('GET', 'vector_stores/*/files/*', '/vector_stores/{store}/files/{storeFile}'),
  row('POST', 'vector_stores/*/files/*', '/vector_stores/{store}/files/{storeFile}', { attributes: { taken: 'over' } }),
  row('DELETE', 'vector_stores/*/files/*', '/vector_stores/{store}/files/{storeFile}'),
  row('GET', 'vector_stores/*/files/*/content', '/vector_stores/{store}/files/{storeFile}/content'),
  row('POST', 'vector_stores/*/file_batches', '/vector_stores/{store}/file_batches', { file_ids: ['{file}'] }),
  row('GET', 'vector_stores/*/file_batches/*', '/vector_stores/{store}/file_batches/{batch}'),
  row('POST', 'vector_stores/*/file_batches/*/cancel', '/vector_stores/{store}/file_batches/{batch}/cancel'),
  row('GET', 'vector_stores/*/file_batches/*/files', '/vector_stores/{store}/file_batches/{batch}/files'),
];

const videoRows: readonly TenantRow[] = [
  row('GET', '/videos/:id', '/videos/{video}'),
  row('GET', '/video/generations/:id', '/video/generations/{video}'),
  row('GET', '/videos/:id/content', '/videos/{video}/content'),
  row('GET', '/videos/:id/content', '/videos/{video}/content?variant=thumbnail'),
  row('GET', '/videos/:id/events', '/videos/{video}/events'),
  row('GET', '/videos/:id/receipt', '/videos/{video}/receipt'),
  row('POST', '/videos/:id/remix', '/videos/{video}/remix', { prompt: 'taken over' }),
  row('POST', '/videos/:id/remix', '/videos/{video}/remix', {}),
  row('DELETE', '/videos/:id', '/videos/{video}'),
];

const imageRows: readonly TenantRow[] = [row('GET', '/images/:id/content', '/images/{image}/content')];

/** Objects that a request names in its body. */
const bodyRows: readonly TenantRow[] = [
  row('POST', '/responses', '/responses', { previous_response_id: '{response}', input: 'go on' }),
  row('POST', '/responses', '/responses', { previous_response_id: '{response}', input: 'go on', stream: true }),
  row('POST', '/responses', '/responses', { previous_response_id: '{response}', input: 'go on', background: true }),
  row('POST', '/responses', '/responses', { previous_response_id: '{response}', input: 'go on', store: false }),
  row('POST', '/responses', '/responses', { conversation: '{conversation}', input: 'go on' }),
  row('POST', '/responses', '/responses', { conversation: { id: '{conversation}' }, input: 'go on', background: true }),
  row('POST', '/responses', '/responses', { input: reference }),
  row('POST', '/responses', '/responses', { input: [...intruder, ...reference], store: false }),
  row('POST', '/conversations', '/conversations', { items: reference }),
  row('POST', 'vector_stores', '/vector_stores', { file_ids: ['{file}'] }),
];

/** Every row of the matrix. */
export const tenantRows: readonly TenantRow[] = [
  ...storedRows,
  ...receiptRows,
  ...quoteRows,
  ...callbackRows,
  ...fileRows,
  ...videoRows,
  ...imageRows,
  ...bodyRows,
];

/** The names of the ids that a row uses. */
export function idsOf({ path, body }: TenantRow): readonly IdKind[] {
  const text = `${path} ${JSON.stringify(body ?? '')}`;
  return (['response', 'conversation', 'item', 'file', 'store', 'storeFile', 'batch', 'video', 'image', 'receipt'] as const).filter(
    (kind) => text.includes(`{${kind}}`),
  );
}

/** A template with ids in place of their names. */
export function fill(template: string, ids: Ids, encode: (id: string) => string): string {
  return template.replaceAll(/\{(\w+)\}/g, (whole, kind) => (kind in ids ? encode(ids[kind as IdKind]) : whole));
}
