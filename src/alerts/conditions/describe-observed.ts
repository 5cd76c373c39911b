import type { AlertMember, AlertRule, Finding } from '../alert.ts';

/** The rules whose problems gateways observe themselves. */
export const observedRules = [
  'upstream_down',
  'credential_refused',
  'credential_unavailable',
  'journal',
  'disk',
  'books',
  'configuration',
] as const;
export type ObservedRule = (typeof observedRules)[number];

const namedMax = 5;

/** The problem of a subject with bad parts; undefined if it has none. */
export function describeObserved(rule: ObservedRule, subject: string, members: Readonly<Record<string, AlertMember>>): Finding | undefined {
  const names = Object.keys(members);
  if (names.length === 0) return undefined;
  const detail = Object.values(members).find((member) => member.detail !== undefined)?.detail;
  const words = wordings[rule](subject.slice(subject.indexOf(':') + 1), listNames(names), detail);
  return { rule, subject, period: '', level: 1, basis: '', severity: 'critical', ...words };
}

function listNames(names: readonly string[]): string {
  const more = names.length - namedMax;
  return `${names.slice(0, namedMax).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

type Words = Pick<Finding, 'summary' | 'action'> & Partial<Pick<Finding, 'severity'>>;
type Wording = (name: string, members: string, detail: string | undefined) => Words;

const wordings: { readonly [Rule in ObservedRule & AlertRule]: Wording } = {
  upstream_down: (name, models) => ({
    summary: `Upstream ${name} is down: calls fail for ${models}.`,
    action: `Examine it with weir doctor --upstream ${name}. Its calls go to other targets of their models, if there are any.`,
  }),
  credential_refused: (name, _members, detail) => ({
    summary: `Calls to upstream ${name} fail: ${detail ?? 'it refuses the credential of the gateway'}.`,
    action: `Correct apiKey or credential of upstreams.${name}, and check it with weir doctor --upstream ${name}.`,
  }),
  // Calls go on with the last one.
  credential_unavailable: (_name, members, detail) => ({
    severity: 'warning',
    summary: `No new reading of ${members}${detail === undefined ? '' : ` (${detail})`}. The last one is in use, a credential until its end.`,
    action: 'Do what the reason says. weir doctor shows each credential and secret, with its end.',
  }),
  journal: (name, _members, detail) => ({
    summary: `Gateway ${name}: ${detail ?? 'the journal cannot be written'}.`,
    action: 'Free space on the disk of its data directory, and check that it can be written and that the database answers.',
  }),
  disk: (name, _members, detail) => ({
    summary: `Gateway ${name}: the disk of the data directory is almost full${detail === undefined ? '' : ` (${detail})`}.`,
    action: 'Free space, or move the data directory to a larger disk. A full disk stops all billable calls.',
  }),
  books: (_name, users, detail) => ({
    summary: `The books of credits do not add up for ${users}${detail === undefined ? '' : ` (${detail})`}. Users whose books do not add up get no further calls.`,
    action: 'Run weir credits verify, find the cause before anything is corrected, and keep a copy of the database.',
  }),
  configuration: (name, _members, detail) => ({
    summary: `Gateway ${name} uses the last valid configuration, because ${detail ?? 'the present file is invalid'}.`,
    action: 'Run weir config check and correct the file, or publish another layer of the configuration.',
  }),
};
