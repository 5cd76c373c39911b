import type { AlertMember, Observation } from './alert.ts';

/** `badAtMs` is written again after this time, so that a lasting problem costs few writes. */
const refreshMs = 3_600_000;
/** A bad part that no gateway has mentioned for this time is forgotten: its gateway, or its use, is gone. */
const forgetMs = 24 * 3_600_000;

type Members = Readonly<Record<string, AlertMember>>;

/**
 * The bad parts of a subject, from those known before and the observations of all gateways. A part stays bad until a
 * gateway has observed it as good for `settleMs` and no gateway as bad. Silence changes nothing for a day, so that a
 * restart, which forgets the health of upstreams, neither ends nor repeats an alert.
 * @param observations those of one rule and subject
 */
export function mergeObservations(
  before: Members,
  observations: readonly Observation[],
  { nowMs, settleMs }: { readonly nowMs: number; readonly settleMs: number },
): Members {
  const bad = new Map(observations.flatMap((each) => (each.state === 'bad' ? [[each.member, each.detail] as const] : [])));
  const good = new Set(observations.flatMap(({ state, member }) => (state === 'good' ? [member] : [])));
  const merged: [string, AlertMember][] = [];
  for (const [name, member] of Object.entries(before)) {
    if (bad.has(name)) continue;
    const { badAtMs, detail, goodSinceMs = good.has(name) ? nowMs : undefined } = member;
    const isOver = goodSinceMs === undefined ? nowMs - badAtMs >= forgetMs : nowMs - goodSinceMs >= settleMs;
    if (isOver) continue;
    merged.push([name, { badAtMs, ...(goodSinceMs === undefined ? {} : { goodSinceMs }), ...(detail === undefined ? {} : { detail }) }]);
  }
  for (const [name, detail] of bad) {
    const known = before[name];
    const isFresh = known !== undefined && nowMs - known.badAtMs < refreshMs;
    merged.push([name, { badAtMs: isFresh ? known.badAtMs : nowMs, ...(detail === undefined ? {} : { detail }) }]);
  }
  return Object.fromEntries(merged.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
