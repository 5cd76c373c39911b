import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { hostname } from 'node:os';
import { test } from 'node:test';

import type { Alert, AlertRule } from '../../../alerts/alert.ts';
import type { HealthReport } from '../../../gateway/attempts/health/health.ts';
import type { SourceState } from '../../../upstreams/credentials/credential-source.ts';
import { observeGateway, type ObservedParts } from './observe-gateway.ts';

type Settings = { readonly routing: { readonly upstreams: readonly { readonly id: string; readonly credential?: unknown }[] } };

const target = (more: Partial<HealthReport> = {}): HealthReport => {
  const names = { upstreamId: 'a', credentialId: 'a', upstreamModel: 'gpt-5' };
  return { ...names, state: 'healthy', inFlight: 0, consecutiveFailures: 0, hasAnswered: false, ...more };
};

function openAlert(rule: AlertRule, subject: string, member: string): Alert {
  const texts = { period: '', basis: '', severity: 'critical', summary: '', action: '' } as const;
  return {
    rule,
    subject,
    ...texts,
    state: 'open',
    version: 1,
    episode: 1,
    level: 1,
    sinceMs: 1,
    members: { [member]: { badAtMs: 1 } },
    channels: [],
  };
}

type State = {
  readonly targets?: readonly HealthReport[];
  readonly upstreams?: readonly string[];
  readonly reason?: string;
  readonly pending?: number;
  readonly problems?: readonly (readonly [string, string])[];
  readonly hasWholePass?: boolean;
  readonly problem?: string;
  readonly layer?: { readonly problem: string };
  readonly freePercent?: number;
  /** The credential of the upstream `a`. */
  readonly credential?: SourceState;
  readonly secret?: SourceState;
};

async function observe(state: State, ...open: readonly Alert[]): Promise<readonly string[]> {
  const settings: Settings = {
    routing: {
      upstreams: (state.upstreams ?? ['a']).map((id) => ({
        id,
        ...(state.credential !== undefined && { credential: { describe: () => state.credential } }),
      })),
    },
  };
  const parts: ObservedParts = {
    nodeId: 'n',
    dataDirectory: tmpdir(),
    health: { report: () => state.targets ?? [] },
    journal: { unavailableReason: () => state.reason, pendingEntries: () => state.pending ?? 0 },
    books: () => ({ problems: new Map(state.problems ?? []), hasWholePass: state.hasWholePass ?? false }),
    live: {
      problem: () => state.problem,
      layer: () => ({ isTaken: true, newest: 4, hidden: [], ...state.layer }),
      settings: () => settings as ReturnType<ObservedParts['live']['settings']>,
    },
    diskFreePercent: () => state.freePercent ?? 0,
    nowMs: () => 100_000,
    secrets: {
      describe: () => ({
        secrets: state.secret === undefined ? [] : [{ ...state.secret, reference: 'file:/x', store: 'file' }],
        logins: [],
      }),
    },
  };
  return (await observeGateway(parts, open)).map(({ rule, subject, member, state: each }) => `${each} ${rule} ${subject} ${member}`);
}

const downAlert = openAlert('upstream_down', 'upstream:a', 'gpt-5');

test('a gateway without problems and without open alerts reports nothing', async () => {
  assert.deepEqual(await observe({ targets: [target({ hasAnswered: true })], hasWholePass: true }), []);
});

test('a failing target is bad; it is good only after it has answered, and an unused one is unknown', async () => {
  const failing = target({ state: 'failing', consecutiveFailures: 5, hasAnswered: true });
  assert.deepEqual(await observe({ targets: [failing] }), ['bad upstream_down upstream:a gpt-5']);
  assert.deepEqual(await observe({ targets: [target({ inFlight: 1 })] }, downAlert), []);
  assert.deepEqual(await observe({ targets: [target({ hasAnswered: true, consecutiveFailures: 1 })] }, downAlert), []);
  assert.deepEqual(await observe({ targets: [] }, downAlert), []);
  assert.deepEqual(await observe({ targets: [target({ hasAnswered: true })] }, downAlert), ['good upstream_down upstream:a gpt-5']);
});

test('of a model with two credentials, one that fails outweighs one that works', async () => {
  const targets = [target({ hasAnswered: true }), target({ credentialId: 'b', state: 'failing', consecutiveFailures: 5 })];
  assert.deepEqual(await observe({ targets }, downAlert), ['bad upstream_down upstream:a gpt-5']);
});

test('a refused credential is bad, and good when it has answered', async () => {
  const alert = openAlert('credential_refused', 'upstream:a', 'a');
  assert.deepEqual(await observe({ targets: [target({ state: 'rejected', hasAnswered: true })] }), ['bad credential_refused upstream:a a']);
  assert.deepEqual(await observe({ targets: [target({ hasAnswered: true })] }, alert), ['good credential_refused upstream:a a']);
});

test('a credential or a secret that fails for a minute is bad, and good when it was read', async () => {
  const failure = { atMs: 99_000, sinceMs: 40_000, reason: 'down', inARow: 3 };
  const bad = 'credential_unavailable upstream:a the credential of a';
  assert.deepEqual(await observe({ credential: { fetchedAtMs: 1, expiresAtMs: 200_000, failure } }), [`bad ${bad}`]);
  assert.deepEqual(await observe({ credential: { failure: { ...failure, sinceMs: 40_001 } } }), []);
  assert.deepEqual(await observe({ credential: { failure: { ...failure, inARow: 2 } } }), []);
  const alert = openAlert('credential_unavailable', 'upstream:a', 'the credential of a');
  assert.deepEqual(await observe({ credential: { fetchedAtMs: 99_000 } }, alert), [`good ${bad}`]);
  assert.deepEqual(await observe({ credential: {} }, alert), [], 'nobody has used it yet');
  assert.deepEqual(await observe({ upstreams: ['b'] }, alert), [`good ${bad}`]);
  const secret = 'credential_unavailable node:n the secret file:/x';
  assert.deepEqual(await observe({ secret: { failure } }), [`bad ${secret}`]);
  const open = openAlert('credential_unavailable', 'node:n', 'the secret file:/x');
  assert.deepEqual(await observe({}, open), [`good ${secret}`], 'the configuration does not have it any more');
});

test('the problems of an upstream that the configuration no longer has are over', async () => {
  const failing = target({ state: 'failing', consecutiveFailures: 5 });
  assert.deepEqual(await observe({ targets: [failing], upstreams: ['b'] }, downAlert), ['good upstream_down upstream:a gpt-5']);
});

test('the journal is bad if it refuses calls or the database does not take its rows', async () => {
  const alert = openAlert('journal', 'node:n', hostname());
  assert.deepEqual(await observe({ reason: 'ENOSPC' }), [`bad journal node:n ${hostname()}`]);
  assert.deepEqual(await observe({ pending: 20_001 }), [`bad journal node:n ${hostname()}`]);
  assert.deepEqual(await observe({ pending: 20_000 }, alert), [`good journal node:n ${hostname()}`]);
});

test('the disk is bad below the configured share, and an invalid configuration is bad', async () => {
  assert.deepEqual(await observe({ freePercent: 100.1 }), [`bad disk node:n ${hostname()}`]);
  assert.deepEqual(await observe({ problem: 'line 3' }), [`bad configuration node:n ${hostname()}`]);
  assert.deepEqual(await observe({ layer: { problem: 'models.x' } }), [`bad configuration node:n ${hostname()}`]);
});

test('books are good again only after a whole pass without the problem', async () => {
  const alert = openAlert('books', 'books:credits', 'ann');
  assert.deepEqual(
    await observe({
      problems: [
        ['ann', 'x'],
        ['', 'y'],
      ],
    }),
    ['bad books books:credits ann', 'bad books books:credits common accounts'],
  );
  assert.deepEqual(await observe({ hasWholePass: false }, alert), []);
  assert.deepEqual(await observe({ hasWholePass: true }, alert), ['good books books:credits ann']);
});
