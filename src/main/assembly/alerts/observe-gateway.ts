import { statfs } from 'node:fs/promises';
import { hostname } from 'node:os';

import { type Alert, isOfRule, type Observation } from '../../../alerts/alert.ts';
import type { ObservedRule } from '../../../alerts/conditions/describe-observed.ts';
import type { BookVerifier } from '../../../billing/credits/book-verifier.ts';
import type { Journal } from '../../../billing/journal/journal.ts';
import type { Health, HealthReport } from '../../../gateway/attempts/health/health.ts';
import type { SourceState } from '../../../upstreams/credentials/credential-source.ts';
import type { SecretBook } from '../../../upstreams/credentials/secrets/secret-book.ts';
import type { LiveSettings } from '../../config/live-settings.ts';

/** More finished calls than this wait only if the database does not take them. */
const pendingMax = 20_000;
/** How often and how long a credential cannot be read before it is a problem. The restart of a store takes less. */
const failuresMin = 3;
const failingMsMin = 60_000;
/** The name of the books outside of users' accounts. */
const commonBooks = 'common accounts';

export type ObservedParts = {
  readonly nodeId: string;
  readonly dataDirectory: string;
  readonly health: Pick<Health, 'report'>;
  readonly journal: Pick<Journal, 'unavailableReason' | 'pendingEntries'>;
  readonly books: BookVerifier['verdict'];
  readonly live: Pick<LiveSettings, 'problem' | 'layer' | 'settings'>;
  readonly diskFreePercent: () => number;
  readonly secrets: Pick<SecretBook, 'describe'> | undefined;
  readonly nowMs: () => number;
};

/** The state of a part of the gateway. `isBad` undefined: unknown. */
type State = Pick<Observation, 'rule' | 'subject' | 'member' | 'detail'> & { readonly isBad: boolean | undefined };

/**
 * What this process knows about itself and its upstreams. Good parts are reported only if an alert about them is open,
 * so that a gateway without problems reports nothing.
 */
export async function observeGateway(parts: ObservedParts, open: readonly Alert[]): Promise<readonly Observation[]> {
  const states = [
    ...observeTargets(parts, open),
    ...observeCredentials(parts, open),
    ...observeNode(parts),
    ...observeBooks(parts, open),
    await observeDisk(parts),
  ];
  return states.flatMap(({ isBad, ...state }): readonly Observation[] => {
    if (isBad === true) return [{ ...state, state: 'bad' }];
    const isOpen = open.some(
      ({ rule, subject, members }) => rule === state.rule && subject === state.subject && members[state.member] !== undefined,
    );
    return isBad === false && isOpen ? [{ rule: state.rule, subject: state.subject, member: state.member, state: 'good' }] : [];
  });
}

function observeTargets({ health, live, nowMs }: ObservedParts, open: readonly Alert[]): readonly State[] {
  const own = live.settings().routing.upstreams;
  const upstreams = new Set(own.map(({ id }) => id));
  const whyNone = (upstreamId: string): string | undefined =>
    reasonForNone(
      own.find(({ id }) => id === upstreamId),
      nowMs(),
    );
  const targets = health.report().filter(({ upstreamId }) => upstreams.has(upstreamId));
  const credentials = [...Map.groupBy(targets, ({ upstreamId, credentialId }) => JSON.stringify([upstreamId, credentialId])).values()];
  return [
    ...[...Map.groupBy(targets, ({ upstreamId, upstreamModel }) => JSON.stringify([upstreamId, upstreamModel])).values()].map(judgeModel),
    ...credentials.map((each) => judgeCredential(each, whyNone)),
    ...observeRemoved(open, upstreams),
  ];
}

/** A model at an upstream, with all credentials: it is down if one of them fails. */
function judgeModel(targets: readonly HealthReport[]): State {
  const isBad = targets.some(({ state }) => state === 'failing');
  const isGood =
    targets.some((target) => isWell(target)) &&
    targets.every(({ state, consecutiveFailures }) => state !== 'failing' && consecutiveFailures === 0);
  const [{ upstreamId, upstreamModel } = { upstreamId: '', upstreamModel: '' }] = targets;
  return {
    rule: 'upstream_down',
    subject: `upstream:${upstreamId}`,
    member: upstreamModel,
    isBad: isBad ? true : isGood ? false : undefined,
  };
}

function judgeCredential(targets: readonly HealthReport[], whyNone: (upstreamId: string) => string | undefined): State {
  const isBad = targets.some(({ state }) => state === 'rejected');
  const [{ upstreamId, credentialId } = { upstreamId: '', credentialId: '' }] = targets;
  const isGood = targets.some((target) => isWell(target));
  const models = targets.filter(({ state }) => state === 'rejected').map(({ upstreamModel }) => upstreamModel);
  return {
    rule: 'credential_refused',
    subject: `upstream:${upstreamId}`,
    member: credentialId,
    ...(isBad ? { detail: whyNone(upstreamId) ?? `it refuses the credential of the gateway for ${models.slice(0, 5).join(', ')}` } : {}),
    isBad: isBad ? true : isGood ? false : undefined,
  };
}

/** Why an upstream has no valid credential. Undefined if it has one, or a key. */
function reasonForNone(
  upstream: { readonly credential?: { readonly describe: () => SourceState } | undefined } | undefined,
  nowMs: number,
): string | undefined {
  const { failure, fetchedAtMs, expiresAtMs = Number.POSITIVE_INFINITY } = upstream?.credential?.describe() ?? {};
  const isNone = failure !== undefined && (fetchedAtMs === undefined || expiresAtMs <= nowMs);
  return isNone ? `there is no credential for it, because ${failure.reason}` : undefined;
}

/** The credentials of clouds, the secrets and their logins: whether they can be read and renewed. */
function observeCredentials({ live, secrets, nodeId, nowMs }: ObservedParts, open: readonly Alert[]): readonly State[] {
  const book = secrets?.describe();
  const own: readonly (readonly [subject: string, member: string, state: SourceState])[] = [
    ...live
      .settings()
      .routing.upstreams.flatMap(({ id, credential }) =>
        credential === undefined ? [] : [[`upstream:${id}`, `the credential of ${id}`, credential.describe()] as const],
      ),
    ...(book?.secrets ?? []).map((each) => [`node:${nodeId}`, `the secret ${each.reference}`, each] as const),
    ...(book?.logins ?? []).map((each) => [`node:${nodeId}`, `the login to ${each.store}`, each] as const),
  ];
  const rule = 'credential_unavailable';
  const gone = open
    .filter((alert) => alert.rule === rule && alert.subject === `node:${nodeId}`)
    .flatMap(({ subject, members }) => Object.keys(members).map((member) => ({ rule, subject, member, isBad: false }) as const))
    .filter(({ member }) => !own.some(([, name]) => name === member));
  return [
    ...own.map(([subject, member, { failure, fetchedAtMs }]): State => {
      const isBad = failure !== undefined && failure.inARow >= failuresMin && nowMs() - failure.sinceMs >= failingMsMin;
      const isGood = failure === undefined && fetchedAtMs !== undefined;
      return { rule, subject, member, ...(isBad && { detail: failure.reason }), isBad: isBad ? true : isGood ? false : undefined };
    }),
    ...gone,
  ];
}

/** Whether calls were answered and none has failed since. An unused target is `healthy` too. */
function isWell({ state, hasAnswered, consecutiveFailures }: HealthReport): boolean {
  return hasAnswered && consecutiveFailures === 0 && (state === 'healthy' || state === 'suspect');
}

/** Problems of upstreams that the configuration no longer has are over. */
function observeRemoved(open: readonly Alert[], upstreams: ReadonlySet<string>): readonly State[] {
  return open
    .filter(isOfRule(['upstream_down', 'credential_refused', 'credential_unavailable']))
    .filter(({ subject }) => subject.startsWith('upstream:'))
    .filter(({ subject }) => !upstreams.has(subject.replace(/^upstream:/, '')))
    .flatMap(({ rule, subject, members }) => Object.keys(members).map((member) => ({ rule, subject, member, isBad: false })));
}

function observeNode({ nodeId, journal, live }: ObservedParts): readonly State[] {
  const pending = journal.pendingEntries();
  const refuses = journal.unavailableReason() !== undefined;
  const layer = live.layer();
  const wrong =
    live.problem() === undefined
      ? `the published layer ${layer.newest} cannot be used here (the log has the reason)`
      : 'the present file is invalid (the log has the reason)';
  const backlog = `${pending} finished calls wait for the database`;
  return [
    node('journal', nodeId, refuses || pending > pendingMax, refuses ? 'the journal cannot be written, and calls are refused' : backlog),
    node('configuration', nodeId, live.problem() !== undefined || layer.problem !== undefined, wrong),
  ];
}

function node(rule: ObservedRule, nodeId: string, isBad: boolean | undefined, detail: string): State {
  return { rule, subject: `node:${nodeId}`, member: hostname(), detail, isBad };
}

function observeBooks({ books }: ObservedParts, open: readonly Alert[]): readonly State[] {
  const { problems, hasWholePass } = books();
  const bad = [...problems].map(([account, detail]) => ({ ...bookState(account === '' ? commonBooks : account), detail, isBad: true }));
  if (!hasWholePass) return bad;
  const known = open.filter(isOfRule(['books'])).flatMap(({ members }) => Object.keys(members));
  return [
    ...bad,
    ...known.filter((name) => !problems.has(name === commonBooks ? '' : name)).map((name) => ({ ...bookState(name), isBad: false })),
  ];
}

const bookState = (member: string) => ({ rule: 'books', subject: 'books:credits', member }) as const;

async function observeDisk({ nodeId, dataDirectory, diskFreePercent }: ObservedParts): Promise<State> {
  const { bavail, blocks, bsize } = await statfs(dataDirectory);
  const freePercent = blocks === 0 ? 100 : (bavail / blocks) * 100;
  const freeGiB = ((bavail * bsize) / 1024 ** 3).toFixed(1);
  return node('disk', nodeId, freePercent < diskFreePercent(), `${freePercent.toFixed(1)} % free, ${freeGiB} GiB`);
}
