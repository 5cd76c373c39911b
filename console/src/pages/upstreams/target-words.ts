import type { Reply } from '../../api/client.ts';
import type { StateTone } from '../../ui/state.tsx';

export type Target = Reply<'targets.list'>['items'][number];
type Node = Target['nodes'][number];

/** The states of a target, from the best to the worst, with those that only a reader of several gateways sees. */
export const targetStates = {
  healthy: { sign: '●', word: 'healthy', tone: 'good' },
  unused: { sign: '○', word: 'not used yet', tone: 'muted' },
  silent: { sign: '○', word: 'no report', tone: 'muted' },
  troubled: { sign: '◐', word: 'some calls fail', tone: 'warning' },
  suspect: { sign: '◐', word: 'suspect', tone: 'warning' },
  'rate-limited': { sign: '▲', word: 'rate-limited', tone: 'warning' },
  failing: { sign: '✗', word: 'failing', tone: 'bad' },
  rejected: { sign: '✗', word: 'credential refused', tone: 'bad' },
  out: { sign: '■', word: 'taken out', tone: 'warning' },
} as const satisfies Readonly<Record<string, { readonly sign: string; readonly word: string; readonly tone: StateTone }>>;

export type TargetStateName = keyof typeof targetStates;
const order = Object.keys(targetStates) as readonly TargetStateName[];

/** From so many failures in a row on, a person wants to look, also where the gateway uses the target on. */
const failuresOfTrouble = 3;

/**
 * What a person needs to know of a target first: an order, then the worst state of the gateways that report. Failures of
 * one caller or of one request leave a target in use, so that nobody can take it away from all others.
 */
export function stateOf(target: Target): TargetStateName {
  const { override, state, nodes } = target;
  if (override !== null) return 'out';
  if (nodes.length > 0 && nodes.every(({ is_silent: isSilent }) => isSilent)) return 'silent';
  if (state === 'healthy' && figuresOf(target).failures >= failuresOfTrouble) return 'troubled';
  return state ?? 'unused';
}

/** The worst state of several targets; undefined if there is none. */
export function worstState(targets: readonly Target[]): TargetStateName | undefined {
  return order[Math.max(-1, ...targets.map((target) => order.indexOf(stateOf(target))))];
}

/** Whether the gateways that report disagree about a target. */
export function isDisputed({ nodes }: Target): boolean {
  return new Set(nodes.filter(isHeard).map(({ state }) => state)).size > 1;
}

const isHeard = ({ is_silent: isSilent }: Node): boolean => !isSilent;

/** The figures of all gateways that report. */
export function figuresOf({ nodes }: Target): { readonly underWay: number; readonly failures: number } {
  const heard = nodes.filter(isHeard);
  return {
    underWay: heard.reduce((sum, { calls_under_way: calls }) => sum + calls, 0),
    failures: Math.max(0, ...heard.map(({ consecutive_failures: failures }) => failures)),
  };
}

/**
 * When a target is tried again, in milliseconds from a time; undefined if it is in use, or nobody reports. Of several
 * gateways, the first that tries counts.
 * @param asOf the time of the answer
 */
export function triedAgainInMs({ nodes }: Target, asOf: string): number | undefined {
  const waits = nodes
    .filter(isHeard)
    .flatMap(({ again_in_ms: wait, reported_at: at }) => (wait === null ? [] : [Date.parse(at) + wait - Date.parse(asOf)]));
  return waits.length === 0 ? undefined : Math.max(0, Math.min(...waits));
}

/** The id that an order about all models of a target's credential names. */
export const wholeCredential = ({ credential }: Target): string => `${credential}/*`;
