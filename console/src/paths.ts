/** A page, with the state that its address holds. */
export type Place = { readonly to: string; readonly search?: Readonly<Record<string, string>> };

const at = (...parts: readonly string[]): string => `/${parts.map(encodeURIComponent).join('/')}`;

/** The addresses of all pages. */
export const paths = {
  overview: '/',
  usage: '/usage',
  calls: '/calls',
  call: (id: string) => at('calls', id),
  playground: '/playground',
  keys: '/keys',
  key: (id: string) => at('keys', id),
  models: '/models',
  model: (name: string) => at('models', name),
  upstreams: '/upstreams',
  upstream: (name: string) => at('upstreams', name),
  reconciliation: (id?: string) => (id === undefined ? '/reconciliation' : at('reconciliation', id)),
  prices: '/prices',
  priceDraft: (id: string) => at('prices', 'drafts', id),
  priceBook: (number: string) => at('prices', 'books', number),
  priceVersion: (version: string) => at('prices', 'versions', version),
  users: '/users',
  user: (name: string) => at('users', name),
  credits: '/credits',
  settings: '/settings',
  setting: (section: string) => at('settings', section),
  device: '/device',
  teams: '/teams',
  team: (name: string) => at('teams', name),
  audit: '/audit',
  operations: '/operations',
  videos: '/videos',
} as const;

const callsOf = (filter: Readonly<Record<string, string>>): Place => ({ to: paths.calls, search: { ...filter, r: '30d' } });

/** The calls of a model in the last 30 days. */
export const callsOfModel = (name: string): Place => callsOf({ model: name });

/** Where an object is shown: its own page. */
export const placeOf = {
  call: (id: string): Place => ({ to: paths.call(id) }),
  refusal: (id: string): Place => ({ to: paths.call(id), search: { tab: 'refused' } }),
  key: (id: string): Place => ({ to: paths.key(id) }),
  upstream: (name: string): Place => ({ to: paths.upstream(name) }),
  user: (name: string): Place => ({ to: paths.user(name) }),
  team: (name: string): Place => ({ to: paths.team(name) }),
  model: (name: string): Place => ({ to: paths.model(name) }),
  video: (id: string): Place => ({ to: paths.videos, search: { video: id } }),
  price_draft: (id: string): Place => ({ to: paths.priceDraft(id) }),
  reconciliation: (id: string): Place => ({ to: paths.reconciliation(id) }),
  price_book: (number: string): Place => ({ to: paths.priceBook(number) }),
  operation: (id: string): Place => ({ to: paths.operations, search: { operation: id } }),
} as const;

/** The changes of an object: `key:k3jd82ls0a`, `target:openai/gpt-5`. */
export const historyOf = (subject: string): Place => ({ to: paths.audit, search: { subject } });

const isKind = (kind: string): kind is keyof typeof placeOf => Object.hasOwn(placeOf, kind);

/** Where an object that the search has found is shown. */
export function placeOfObject(kind: string, id: string): Place | undefined {
  return isKind(kind) ? placeOf[kind](id) : undefined;
}

/** The published book behind a layer of prices such as `store-4`; undefined for other layers. */
export function placeOfLayer(layer: string): Place | undefined {
  const number = /^store-([1-9]\d*)$/.exec(layer)?.[1];
  return number === undefined ? undefined : placeOf.price_book(number);
}

/** Where a subject of the audit log or of an alert is shown: `user:ann`, `upstream:openai`, `target:openai/key-1/gpt-5`. */
export function placeOfSubject(subject: string): Place | undefined {
  const [kind = '', ...rest] = subject.split(':');
  const name = rest.join(':');
  if (name === '') return undefined;
  return kind === 'target' ? placeOf.upstream((name.split('/')[0] ?? name).replace(/#\d+$/, '')) : placeOfObject(kind, name);
}
