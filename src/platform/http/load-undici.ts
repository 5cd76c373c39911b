import type * as Undici from 'undici';

/**
 * Loads undici when it is first used. A gateway that only calls its upstreams never needs it, and loading it is 5 % of
 * the start time.
 */
export const loadUndici = (): Promise<typeof Undici> => import('undici');
