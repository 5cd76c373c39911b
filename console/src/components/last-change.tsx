import { useQuery } from '@tanstack/react-query';

import { question } from '../api/query-client.ts';
import { may } from '../api/sign-in.ts';
import { showTime } from '../format/times.ts';
import { Notice } from '../ui/notice.tsx';
import { ValueChange } from './value-change.tsx';
import { useSession, useZone } from './use-page.ts';

/** Somebody else has changed an object since this page read it: who, when and what, as far as the reader may know. */
export function LastChange({ subject }: { readonly subject: string | undefined }) {
  const mayRead = may(useSession(), 'audit:read');
  const zone = useZone();
  const last = useQuery({
    ...question('audit.list', { query: { subject: subject ?? '', limit: 1 } }),
    enabled: mayRead && subject !== undefined,
    staleTime: 0,
  });
  const entry = last.data?.items[0];
  return (
    <Notice tone="warning">
      <p>Somebody else has changed this since you opened it. The page shows the present state now; your fields are kept.</p>
      {entry !== undefined && (
        <>
          <p>
            {entry.actor}, {showTime(entry.at, zone)}: {entry.action}
          </p>
          <ValueChange before={entry.before} after={entry.after} />
        </>
      )}
    </Notice>
  );
}
