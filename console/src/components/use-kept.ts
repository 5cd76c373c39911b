import { useRef } from 'react';

import { isPassing } from '../api/query-client.ts';

/**
 * An answer, or the one before it while the server is away. The end of an open span moves with each minute, which makes
 * a new question, and nobody would answer it.
 * @param of what the person asks for, without the minute
 */
export function useKept<Data>(of: string, data: Data | undefined, error: unknown): Data | undefined {
  const kept = useRef<{ readonly of: string; readonly data: Data }>(undefined);
  if (data !== undefined) kept.current = { of, data };
  return data ?? (isPassing(error) && kept.current?.of === of ? kept.current.data : undefined);
}
