import { Link } from '@tanstack/react-router';

import { may } from '../api/sign-in.ts';
import { historyOf } from '../paths.ts';
import { useSession } from './use-page.ts';

/** Leads to the changes of an object, for those who may see them. */
export function HistoryLink({ subject }: { readonly subject: string }) {
  return may(useSession(), 'audit:read') ? <Link {...historyOf(subject)}>History</Link> : null;
}
