import { useSuspenseQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useEffect, useState } from 'react';

import { type Session, sessionQuestion } from '../api/sign-in.ts';
import { presentZoneChoice } from './appearance.ts';
import { one, type Search } from './search-params.ts';
import { readSpan, type Span, type SpanName } from './span.ts';

/** The session of this browser. Pages inside the frame are shown only with a session. */
export function useSession(): Session {
  return useSuspenseQuery(sessionQuestion).data;
}

/** The parameters of the address, and a function that changes some of them; `undefined` takes one away. */
export function useAddress(): readonly [
  Search,
  (change: Readonly<Record<string, string | readonly string[] | undefined>>, replace?: boolean) => void,
] {
  const search = useSearch({ strict: false }) as Search;
  const navigate = useNavigate();
  const change = (changed: Readonly<Record<string, string | readonly string[] | undefined>>, replace = false): void => {
    void navigate({ to: '.', search: (before: Search) => ({ ...before, ...changed }), replace, resetScroll: false } as never);
  };
  return [search, change];
}

/** A part of the path of the page: the id of `/calls/$id`. */
export function usePathPart(name: string): string {
  const parts = useParams({ strict: false }) as Readonly<Record<string, string | undefined>>;
  return parts[name] ?? '';
}

const minuteMs = 60_000;

/** The present minute: it changes while the page is visible. */
export function useMinute(): number {
  const [nowMs, setNowMs] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') setNowMs(Date.now());
    }, minuteMs / 4);
    return () => clearInterval(timer);
  }, []);
  return Math.floor(nowMs / minuteMs) * minuteMs;
}

/** The zone in which the page shows times: that of the address, or the reporting zone. */
export function useZone(): string {
  const { time_zone: zone } = useSession();
  const [search] = useAddress();
  const choice = presentZoneChoice();
  const wanted = one(search, 'tz') ?? (choice === 'reporting' ? undefined : choice);
  return wanted === 'browser' ? Intl.DateTimeFormat().resolvedOptions().timeZone : (wanted ?? zone);
}

/** The span that the page shows. */
export function useSpan(fallback: SpanName): Span {
  const zone = useZone();
  const [search] = useAddress();
  const nowMs = useMinute();
  return readSpan(
    Object.fromEntries(['r', 'from', 'to'].flatMap((name) => (one(search, name) === undefined ? [] : [[name, one(search, name)]]))),
    zone,
    nowMs,
    fallback,
  );
}
