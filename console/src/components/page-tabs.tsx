import { Link } from '@tanstack/react-router';

import { tabClass, Tabs } from '../ui/tabs.tsx';
import { one } from './search-params.ts';
import { useAddress } from './use-page.ts';

type Tab = { readonly name: string; readonly text: string };

/** The open part of a page: that of the address (`tab`), or the first. */
export function useTab<Name extends string>(tabs: readonly (Tab & { readonly name: Name })[]): Name {
  const [search] = useAddress();
  const wanted = one(search, 'tab');
  const first = tabs[0];
  if (first === undefined) throw new Error('A page with parts has one at least.');
  return tabs.find(({ name }) => name === wanted)?.name ?? first.name;
}

/** The parts of the page of one object. The address says which is open; the first has none there. */
export function PageTabs({ label, tabs, open }: { readonly label: string; readonly tabs: readonly Tab[]; readonly open: string }) {
  return (
    <Tabs label={label}>
      {tabs.map(({ name, text }, index) => (
        <Link
          key={name}
          to="."
          search={{ tab: index === 0 ? undefined : name }}
          className={tabClass}
          activeOptions={{ explicitUndefined: true }}
          aria-current={name === open ? 'page' : undefined}
        >
          {text}
        </Link>
      ))}
    </Tabs>
  );
}
