import { defaultDrainTimes } from '../config/default-drain-times.ts';
import type { Config } from '../config/config-schema.ts';

/** The times of a shutdown. */
export type DrainTimes = { readonly delayMs: number; readonly graceMs: number };

export function readDrainTimes({ timeouts }: Config, program: keyof typeof defaultDrainTimes): DrainTimes {
  const defaults = defaultDrainTimes[program];
  return { delayMs: timeouts?.drainDelayMs ?? defaults.delayMs, graceMs: timeouts?.drainMs ?? defaults.graceMs };
}

/** Ctrl-C comes from a developer, so there is no load balancer that must notice first. */
export function delayAfter(signal: NodeJS.Signals, { delayMs }: DrainTimes): number {
  return signal === 'SIGINT' ? 0 : delayMs;
}
