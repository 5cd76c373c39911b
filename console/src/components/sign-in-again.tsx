import { useRouterState } from '@tanstack/react-router';

/** Leads to the sign-in, and from there back to this page. */
export function SignInAgain() {
  const here = useRouterState({ select: ({ location }) => location.href });
  return <a href={`/sign-in?to=${encodeURIComponent(here)}`}>Sign in again</a>;
}
