import type { OddKey } from './odd-ledger.ts';
import { oddModels } from './odd-ledger.ts';

const [longModel] = oddModels;
const part = encodeURIComponent;

/** The pages of the console, with what has odd names. Pages of objects that a state has not made are left out. */
export function pagesOf(keys: readonly OddKey[]): readonly string[] {
  const [first] = keys;
  // Of few users the last one stands for those with other names.
  const [long = '', arabic = ''] = [keys[1] ?? first, keys[3] ?? first].map((key) => key?.user);
  return [
    '/',
    '/usage?r=30d&by=model&and=user&compare=previous',
    '/usage?r=30d&by=user',
    '/calls?r=30d',
    '/calls?r=30d&tab=refused',
    '/playground',
    '/keys',
    '/users',
    '/teams',
    '/credits',
    '/credits?tab=balances',
    '/credits?tab=statement',
    '/credits?tab=leases',
    '/prices',
    '/prices?tab=drafts',
    '/reconciliation',
    '/upstreams',
    '/upstreams/simulated-anthropic',
    '/models',
    '/videos',
    '/audit',
    '/operations',
    '/settings/you',
    '/settings/people',
    '/settings/tokens',
    '/settings/callbacks',
    '/settings/captures',
    '/settings/config',
    '/settings/layers',
    '/settings/nodes',
    '/settings/about',
    ...(first === undefined
      ? []
      : [
          `/keys/${first.id}`,
          `/users/${part(long)}`,
          `/users/${part(arabic)}?tab=keys`,
          `/users/${part(arabic)}?tab=credits`,
          `/teams/${part(arabic)}`,
          `/models/${part(longModel)}`,
          `/credits?tab=statement&account=${part(`user:${arabic}`)}`,
        ]),
  ];
}
