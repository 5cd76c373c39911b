import type { Reply } from '../../api/client.ts';
import type { Session } from '../../api/sign-in.ts';
import { type Place, paths, placeOfSubject } from '../../paths.ts';

export type AttentionItem = Reply<'overview.get'>['attention'][number];
type Permission = Session['permissions'][number];

/** The changes that can be made from the list itself. */
export type OfferedChange =
  | { readonly name: 'check'; readonly upstream: string }
  | { readonly name: 'add-up' }
  | { readonly name: 'reload' }
  | { readonly name: 'extend'; readonly key: string };

/** Something that can be done about a problem: a change with a dialog, or a page. */
export type Offer = {
  readonly text: string;
  readonly permission: Permission;
} & ({ readonly change: OfferedChange } | { readonly place: Place });

const split = (subject: string): { readonly kind: string; readonly name: string } => {
  const at = subject.indexOf(':');
  return { kind: subject.slice(0, Math.max(0, at)), name: subject.slice(at + 1) };
};

/** What can be done about a problem, the most useful first; what the person may not do is left out. */
export function offersOf({ code, subject }: Pick<AttentionItem, 'code' | 'subject'>, permissions: readonly Permission[]): readonly Offer[] {
  return allOffers(code, subject).filter(({ permission }) => permissions.includes(permission));
}

function allOffers(code: AttentionItem['code'], subject: string): readonly Offer[] {
  const { kind, name } = split(subject);
  const own = placeOfSubject(subject);
  switch (code) {
    case 'upstream_down':
    case 'credential_refused':
      return [
        { text: 'Check it now', permission: 'upstreams:write', change: { name: 'check', upstream: name } },
        { text: 'Take targets out', permission: 'upstreams:write', place: { to: paths.upstreams, search: { upstream: name } } },
      ];
    case 'credential_unavailable':
      return kind === 'upstream'
        ? [{ text: 'Check it now', permission: 'upstreams:write', change: { name: 'check', upstream: name } }]
        : [{ text: 'Upstreams', permission: 'upstreams:read', place: { to: paths.upstreams } }];
    case 'price_missing':
      return [
        { text: 'Give it a price', permission: 'prices:publish', place: { to: paths.prices, search: { tab: 'drafts', new: '1' } } },
        { text: 'Its calls', permission: 'calls:read', place: { to: paths.calls, search: { r: '30d', model: name } } },
      ];
    case 'balance':
      return kind === 'user' || kind === 'organization'
        ? [
            {
              text: 'Book a payment',
              permission: 'credits:write',
              place: { to: paths.credits, search: { post: '1', account: kind === 'user' ? subject : 'organization' } },
            },
          ]
        : [{ text: 'Balances', permission: 'credits:read', place: { to: paths.credits, search: { tab: 'balances' } } }];
    case 'budget':
      return own === undefined ? [] : [{ text: 'Change the limit', permission: 'limits:write', place: own }];
    case 'key_expiring':
      if (kind === 'key') return [{ text: 'Give it more time', permission: 'keys:write', change: { name: 'extend', key: name } }];
      if (kind === 'token') return [{ text: 'Replace it', permission: 'tokens:write', place: { to: paths.setting('tokens') } }];
      return own === undefined ? [] : [{ text: 'Give more time', permission: 'limits:write', place: own }];
    case 'spend_rate':
      return [{ text: 'Its calls', permission: 'calls:read', place: { to: paths.calls, search: { r: '6h', user: name } } }];
    case 'books':
      return [{ text: 'Add up now', permission: 'credits:read', change: { name: 'add-up' } }];
    case 'configuration':
      return [
        { text: 'See the problem', permission: 'config:read', place: { to: paths.setting('config') } },
        { text: 'Reload', permission: 'config:write', change: { name: 'reload' } },
        { text: 'Layers', permission: 'config:write', place: { to: paths.setting('layers') } },
      ];
    case 'journal':
    case 'disk':
      return [{ text: 'Gateways', permission: 'upstreams:read', place: { to: paths.setting('nodes') } }];
  }
}
