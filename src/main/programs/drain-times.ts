import type { Config } from '../config/config-schema.ts';

/** How long a gateway takes to go. */
export type DrainTimes = { readonly delayMs: number; readonly graceMs: number };

/**
 * What holds where the configuration says nothing. A gateway of its own stands behind a balancer, which has to notice; the program with everything in it stands before a
 * developer, who waits.
 */
export const defaultDrainTimes = { gateway: { delayMs: 5000, graceMs: 300_000 }, start: { delayMs: 0, graceMs: 30_000 } } as const;

export function readDrainTimes({ timeouts }: Config, program: keyof typeof defaultDrainTimes): DrainTimes {
  const defaults = defaultDrainTimes[program];
  return { delayMs: timeouts?.drainDelayMs ?? defaults.delayMs, graceMs: timeouts?.drainMs ?? defaults.graceMs };
}

/** Ctrl-C comes from someone who looks on: nobody has to notice anything first. */
export function delayAfter(signal: NodeJS.Signals, { delayMs }: DrainTimes): number {
  return signal === 'SIGINT' ? 0 : delayMs;
}
