import { useEffect, useRef, useState } from 'react';

import { apiPath, encodeQuery } from '../api/client.ts';

type Handlers = Readonly<Record<string, (data: unknown) => void>>;

/**
 * A stream of events, while the page is visible. The browser connects again by itself, and says which event it received
 * last, so that nothing is missed.
 * @param query the topics, and the filter of calls
 * @returns whether the stream is open
 */
export function useEvents(query: Readonly<Record<string, unknown>> | undefined, handlers: Handlers): boolean {
  const latest = useRef(handlers);
  latest.current = handlers;
  const [isOpen, setIsOpen] = useState(false);
  const [isVisible, setIsVisible] = useState(document.visibilityState === 'visible');
  useEffect(() => {
    const change = (): void => setIsVisible(document.visibilityState === 'visible');
    document.addEventListener('visibilitychange', change);
    return () => document.removeEventListener('visibilitychange', change);
  }, []);
  const text = query === undefined ? undefined : encodeQuery(query);
  useEffect(() => {
    if (text === undefined || !isVisible) return undefined;
    const source = new EventSource(`${apiPath}/events?${text}`);
    source.onopen = () => setIsOpen(true);
    source.onerror = () => setIsOpen(false);
    for (const name of Object.keys(latest.current))
      source.addEventListener(name, (event) => latest.current[name]?.(JSON.parse((event as MessageEvent<string>).data)));
    return () => {
      source.close();
      setIsOpen(false);
    };
  }, [text, isVisible]);
  return isOpen;
}
