import { ask, type Reply } from './client.ts';
import { toProblem } from './problem.ts';
import { question, queryClient } from './query-client.ts';

export type Session = Reply<'session.get'>;

export const sessionQuestion = { ...question('session.get', {}), staleTime: 60_000, retry: false } as const;

/** Why a link did not sign in; the sign-in page shows it. */
export const linkFailure: { sentence: string | undefined } = { sentence: undefined };

const deviceItem = 'weir.device';

/** The code of a command line that waits to be signed in, if a link named one; else empty. */
export function readDeviceCode(): string {
  return sessionStorage.getItem(deviceItem) ?? '';
}

export function forgetDeviceCode(): void {
  sessionStorage.removeItem(deviceItem);
}

/**
 * Opens the page that approves a command line, for the address `/#device=CODE`. The code leaves the address, and stays
 * in this tab until somebody has signed in.
 * @returns whether the address was such a one
 */
export function openDevice(): boolean {
  const found = /^#device(?:=([\w-]+))?$/.exec(location.hash);
  if (found === null) return false;
  sessionStorage.setItem(deviceItem, found[1] ?? '');
  history.replaceState(history.state, '', '/device');
  return true;
}

/** Signs in by the code after `#in=`, if the address has one. The code works once, so it is removed at once. */
export async function useLink(): Promise<void> {
  const code = /^#in=([\w-]+)$/.exec(location.hash)?.[1];
  if (code === undefined) return;
  history.replaceState(history.state, '', `${location.pathname}${location.search}`);
  try {
    await ask('session.create', { body: { code } });
    delete document.documentElement.dataset['session'];
    // The link was made to approve a command line.
    if (readDeviceCode() !== '') history.replaceState(history.state, '', '/device');
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
/** The playground makes keys of its own for the sessions of people. Who signed in with a key has one already. */
export function mayPlay(session: Session): boolean {
  return session.person !== null && may(session, 'playground:use');
}

export function lacks(session: Session, permission: Session['permissions'][number]): string | undefined {
  return may(session, permission) ? undefined : `Your role does not have the permission ${permission}.`;
}
