import { Link } from '@tanstack/react-router';

import { paths } from '../paths.ts';
import { tabClass, Tabs } from '../ui/tabs.tsx';
import { useSession } from './use-page.ts';

/** The lists of those who may call: keys, the users who own them, and the teams of users. */
export function PeopleTabs() {
  const seesAll = useSession().users === null;
  return (
    <Tabs label="Keys, users and teams">
      <Link to={paths.keys} className={tabClass} activeOptions={{ includeSearch: false }}>
        Keys
      </Link>
      <Link to={paths.users} className={tabClass} activeOptions={{ includeSearch: false }}>
        Users
      </Link>
      {seesAll && (
        <Link to={paths.teams} className={tabClass} activeOptions={{ includeSearch: false }}>
          Teams
        </Link>
      )}
    </Tabs>
  );
}
