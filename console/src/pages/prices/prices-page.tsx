import { Link } from '@tanstack/react-router';

import { may } from '../../api/sign-in.ts';
import { PageHead } from '../../components/page-head.tsx';
import { one } from '../../components/search-params.ts';
import { useAddress, useSession } from '../../components/use-page.ts';
import { paths } from '../../paths.ts';
import { tabClass, Tabs } from '../../ui/tabs.tsx';
import { BooksTable } from './books-table.tsx';
import { Calculator } from './calculator.tsx';
import { DraftsTable } from './drafts-table.tsx';
import { PriceList } from './price-list.tsx';

const tabs = [
  { name: 'list', text: 'In force', permission: 'prices:read', view: PriceList },
  { name: 'books', text: 'Published books', permission: 'prices:read', view: BooksTable },
  { name: 'drafts', text: 'Drafts', permission: 'prices:stage', view: DraftsTable },
  { name: 'calculator', text: 'Calculator', permission: 'prices:read', view: Calculator },
] as const;

/** What holds, why, and what a change would cost whom. */
export function PricesPage() {
  const session = useSession();
  const [search] = useAddress();
  const shown = tabs.filter(({ permission }) => may(session, permission));
  const open = shown.find(({ name }) => name === one(search, 'tab')) ?? tabs[0];
  return (
    <>
      <PageHead title="Prices" />
      <Tabs label="Prices">
        {shown.map(({ name, text }) => (
          <Link
            key={name}
            to={paths.prices}
            search={name === 'list' ? {} : { tab: name }}
            className={tabClass}
            aria-current={name === open.name ? 'page' : undefined}
            activeOptions={{ exact: true, includeSearch: true }}
          >
            {text}
          </Link>
        ))}
      </Tabs>
      <open.view />
    </>
  );
}
