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
  users: '/users',
  user: (name: string) => at('users', name),
  teams: '/teams',
  team: (name: string) => at('teams', name),
  credits: '/credits',
  prices: '/prices',
  priceDraft: (id: string) => at('prices', 'drafts', id),
  reconciliation: '/reconciliation',
  upstreams: '/upstreams',
  upstream: (name: string) => at('upstreams', name),
  models: '/models',
  model: (name: string) => at('models', name),
  videos: '/videos',
  audit: '/audit',
  settings: '/settings',
  signIn: '/sign-in',
} as const;

/** The page of a subject of the audit log or of an alert: `user:ann`, `upstream:openai/key-1`. */
export function pathOfSubject(subject: string): string | undefined {
  const [kind = '', ...rest] = subject.split(':');
  const name = rest.join(':');
  if (name === '') return undefined;
  switch (kind) {
    case 'user':
      return paths.user(name);
    case 'key':
      return paths.key(name);
    case 'team':
      return paths.team(name);
    case 'call':
      return paths.call(name);
    case 'upstream':
    case 'target':
      return paths.upstream(name.split('/')[0] ?? name);
    case 'model':
      return paths.model(name);
    default:
      return undefined;
  }
}
