import { ask, type Reply } from './client.ts';
import { toProblem } from './problem.ts';
import { question, queryClient } from './query-client.ts';

export type Session = Reply<'session.get'>;

export const sessionQuestion = { ...question('session.get', {}), staleTime: 60_000, retry: false } as const;

/** Why a link did not sign in; the sign-in page shows it. */
export const linkFailure: { sentence: string | undefined } = { sentence: undefined };

/** Signs in by the code after `#in=`, if the address has one. The code works once, so it is removed at once. */
export async function useLink(): Promise<void> {
  const code = /^#in=([\w-]+)$/.exec(location.hash)?.[1];
  if (code === undefined) return;
  history.replaceState(history.state, '', `${location.pathname}${location.search}`);
  try {
    await ask('session.create', { body: { code } });
    delete document.documentElement.dataset['session'];
  } catch (error) {
    linkFailure.sentence = toProblem(error).message;
  }
}

/** Ends the session, and forgets all that was shown. */
export async function signOut(everywhere: boolean): Promise<void> {
  await ask('session.delete', { query: everywhere ? { everywhere: true } : {} });
  queryClient.clear();
  location.assign('/sign-in');
}

export function may(session: Session, permission: Session['permissions'][number]): boolean {
  return session.permissions.includes(permission);
}

/** Why a control cannot be used, or undefined if it can. */
export function lacks(session: Session, permission: Session['permissions'][number]): string | undefined {
  return may(session, permission) ? undefined : `Your role does not have the permission ${permission}.`;
}
