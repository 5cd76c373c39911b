import { StartError } from '../environment.ts';

const dayMs = 86_400_000;
const unitMs: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: dayMs };
/** Ten years: more is a typing error. */
const durationMsMax = 3653 * dayMs;

/** Milliseconds of `90s`, `30m`, `12h`, `7d` or `0`, of at most `msMax`. Throws StartError naming the option. */
export function readDuration(option: string, text: string, msMax = durationMsMax): number {
  if (text === '0') return 0;
  const [, digits = '', unit = ''] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  const ms = Number(digits) * (unitMs[unit] ?? Number.NaN);
  if (Number.isFinite(ms) && ms <= msMax) return ms;
  throw new StartError(
    `${option} must be a time such as 90s, 30m, 12h or 7d, of at most ${msMax === durationMsMax ? 'ten years' : `${msMax / dayMs}d`}; got "${text}"`,
  );
}
