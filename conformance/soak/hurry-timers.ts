/**
 * Loaded before a program, with a factor as its query: timers of a minute or more run so many times as often. They are
 * sweeps, checks and reports, from which nothing is lost if they run earlier. Limits of calls are not such timers.
 */
const factor = Number(new URL(import.meta.url).search.slice(1));
const longMs = 60_000;

type Set = (handler: (...values: unknown[]) => void, ms?: number, ...values: unknown[]) => NodeJS.Timeout;

function hurry(plain: Set): Set {
  const hurried: Set = (handler, ms, ...values) => plain(handler, ms !== undefined && ms >= longMs ? ms / factor : ms, ...values);
  // Its form that returns a promise is a member.
  return Object.defineProperties(hurried, Object.getOwnPropertyDescriptors(plain));
}

if (!(factor >= 1)) throw new RangeError('the factor must be at least 1');
globalThis.setTimeout = hurry(globalThis.setTimeout) as typeof setTimeout;
globalThis.setInterval = hurry(globalThis.setInterval) as typeof setInterval;

export {};
