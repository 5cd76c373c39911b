import { may, mayPlay, type Session } from '../api/sign-in.ts';
import { paths } from '../paths.ts';
import type { IconName } from '../ui/icon.tsx';

type Entry = {
  readonly text: string;
  /** For those who see some users alone. */
  readonly ownText?: string;
  readonly to: string;
  /** Further pages that belong to the entry. */
  readonly also?: readonly string[];
  readonly icon: IconName;
  readonly letter: string;
  readonly permission: Session['permissions'][number];
};

/** The pages, in groups: what is used, who may use it, what serves it, and what holds it together. */
export const entries: readonly (readonly Entry[])[] = [
  [
    { text: 'Overview', to: paths.overview, icon: 'overview', letter: 'o', permission: 'usage:read' },
    { text: 'Usage', to: paths.usage, icon: 'usage', letter: 'u', permission: 'usage:read' },
    { text: 'Calls', to: paths.calls, icon: 'calls', letter: 'c', permission: 'calls:read' },
    { text: 'Playground', to: paths.playground, icon: 'playground', letter: 'p', permission: 'playground:use' },
  ],
  [
    {
      text: 'Keys & users',
      ownText: 'Keys',
      to: paths.keys,
      also: [paths.users, paths.teams],
      icon: 'keys',
      letter: 'k',
      permission: 'keys:read',
    },
    { text: 'Limits & credits', to: paths.credits, icon: 'credits', letter: 'l', permission: 'credits:read' },
    { text: 'Prices', to: paths.prices, icon: 'prices', letter: 'i', permission: 'prices:read' },
    { text: 'Reconciliation', to: paths.reconciliation(), icon: 'reconciliation', letter: 'r', permission: 'reconcile:run' },
  ],
  [
    { text: 'Upstreams', to: paths.upstreams, icon: 'upstreams', letter: 'h', permission: 'upstreams:read' },
    { text: 'Models', to: paths.models, icon: 'models', letter: 'm', permission: 'upstreams:read' },
    { text: 'Videos', to: paths.videos, icon: 'videos', letter: 'v', permission: 'calls:read' },
  ],
  [
    { text: 'Audit', to: paths.audit, icon: 'audit', letter: 'a', permission: 'audit:read' },
    { text: 'Settings', to: paths.settings, also: [paths.operations], icon: 'settings', letter: 's', permission: 'usage:read' },
  ],
];

/** Pages without a place in the navigation: the search, a letter and other pages lead there. */
const further: readonly Entry[] = [{ text: 'Long work', to: paths.operations, icon: 'clock', letter: 'w', permission: 'usage:read' }];

/** Whether a page has something for its reader. */
export function mayOpen(session: Session, { to, permission }: Pick<Entry, 'to' | 'permission'>): boolean {
  return to === paths.playground ? mayPlay(session) : may(session, permission);
}

/** All pages that have a name. */
export const allEntries: readonly Entry[] = [...entries.flat(), ...further];
