import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import { entries } from '../../billing/ledger/testing/entry-arbitrary.ts';
import { type ErrorCode, GatewayError } from '../../inference/gateway-error.ts';
import { silentLogger } from '../../platform/log.ts';
import { type CallLogLevel, createCallLog } from './call-log.ts';
import { beginFakeCall, fakeEntry, tellFakeCall } from './testing/fake-call.ts';
import { createTelemetry } from './telemetry.ts';

function write(level: CallLogLevel = 'info', forTerminal = false) {
  let text = '';
  let nowMs = 0;
  const clock = { nowMs: () => 1_700_000_000_000 + nowMs, monotonicMs: () => nowMs };
  const log = createCallLog({ write: (lines) => void (text += lines), level, forTerminal, clock });
  const telemetry = createTelemetry({ clock, logger: silentLogger, log });
  const refuse = (code: ErrorCode, status: number, headers: Readonly<Record<string, string>> = {}, internal?: string): void => {
    const { report, reply } = beginFakeCall(telemetry, headers);
    report.refused(new GatewayError(code, 'words for the client', internal === undefined ? {} : { internal }));
    reply.close(status);
  };
  const lines = (): readonly string[] => {
    telemetry.flush();
    return text.split('\n').slice(0, -1);
  };
  return { telemetry, refuse, lines, advance: (ms: number) => void (nowMs += ms) };
}

const parse = (line: string | undefined): Record<string, unknown> => JSON.parse(line ?? '') as Record<string, unknown>;

test('a finished call is one line with everything about it', () => {
  const { telemetry, lines } = write();
  tellFakeCall(telemetry, fakeEntry);
  assert.deepEqual(lines().map(parse), [
    {
      level: 30,
      time: '2023-11-14T22:13:20.000Z',
      callId: 'req_1',
      user: 'alice',
      keyName: 'laptop',
      dialect: 'openai-chat',
      operation: 'generate',
      requestedModel: 'gpt-4.1',
      stream: true,
      end: 'finished',
      status: 200,
      durationMs: 1500,
      upstream: 'one',
      upstreamModel: 'gpt-4.1-2025',
      servedModel: 'gpt-4.1-2025',
      upstreamStatus: 200,
      attempts: 1,
      translated: false,
      stopReason: 'stop',
      firstByteMs: 500,
      inputTokens: 10,
      cacheReadTokens: 5,
      cacheWriteTokens: 2,
      outputTokens: 11,
      reasoningTokens: 3,
      costUsd: '0.00123',
      costNanoUsd: 1_230_000,
      estimated: false,
      msg: 'call finished',
    },
  ]);
});

test('the reason of a failure keeps the next step at its end, and is cut far behind it', () => {
  const { refuse, lines } = write();
  const reason = `${'a reason '.repeat(20)}: set credential.file`;
  refuse('upstream_credentials_rejected', 503, {}, reason);
  refuse('upstream_credentials_rejected', 503, {}, 'x'.repeat(5000));
  assert.deepEqual(
    lines().map((line) => parse(line)['internal']),
    [reason, 'x'.repeat(320)],
  );
});

test('failed attempts are named', () => {
  const { telemetry, lines } = write();
  const failed = {
    upstream: 'two',
    credential: 'two',
    upstreamModel: 'm',
    upstreamStatus: 503,
    errorCode: 'upstream_error',
    durationMs: 12,
  };
  tellFakeCall(telemetry, { ...fakeEntry, failedAttempts: [failed] });
  const { attempts, failedAttempts } = parse(lines()[0]);
  assert.equal(attempts, 2);
  assert.deepEqual(failedAttempts, [{ durationMs: 12, upstream: 'two', model: 'm', status: 503, code: 'upstream_error' }]);
});

test('any call is one line of JSON with the same amount, and one line at a terminal without control characters', () => {
  fc.assert(
    fc.property(entries, (entry) => {
      const json = write();
      tellFakeCall(json.telemetry, entry);
      const [line, ...others] = json.lines();
      assert.equal(others.length, 0);
      assert.equal(parse(line)['requestedModel'], entry.requestedModel.slice(0, 128));
      assert.match(line ?? '', new RegExp(`"costNanoUsd":${entry.charge.amountNanoUsd},`));
      const shown = write('info', true);
      tellFakeCall(shown.telemetry, entry);
      assert.equal(shown.lines().length, 1);
      assert.doesNotMatch(shown.lines()[0] ?? '', /[^ -~]/);
    }),
    { numRuns: 200 },
  );
});

test('a failure is a warning; a refusal that only its client can fix is not', () => {
  const { telemetry, refuse, lines } = write();
  tellFakeCall(telemetry, { ...fakeEntry, end: 'failed', errorCode: 'upstream_timeout' }, 504);
  tellFakeCall(telemetry, { ...fakeEntry, end: 'cut' });
  tellFakeCall(telemetry, { ...fakeEntry, end: 'client-left' }, undefined);
  refuse('invalid_api_key', 401);
  refuse('journal_unavailable', 503);
  assert.deepEqual(
    lines().map((line) => [parse(line)['level'], parse(line)['end'], parse(line)['code']]),
    [
      [40, 'failed', 'upstream_timeout'],
      [40, 'cut', undefined],
      [30, 'client-left', undefined],
      [30, 'refused', 'invalid_api_key'],
      [40, 'refused', 'journal_unavailable'],
    ],
  );
  const quiet = write('warn');
  tellFakeCall(quiet.telemetry, fakeEntry);
  quiet.refuse('invalid_api_key', 401);
  tellFakeCall(quiet.telemetry, { ...fakeEntry, end: 'cut' });
  assert.equal(quiet.lines().length, 1);
  const silent = write('silent');
  tellFakeCall(silent.telemetry, { ...fakeEntry, end: 'cut' });
  assert.equal(silent.lines().length, 0);
});

test('many wrong keys do not fill the disk: the next line has the number of omitted lines', () => {
  const { telemetry, refuse, lines, advance } = write();
  for (let index = 0; index < 10_000; index++) refuse('invalid_api_key', 401);
  assert.equal(lines().length, 100);
  advance(1000);
  for (let index = 0; index < 1000; index++) refuse('invalid_api_key', 401);
  assert.equal(lines().length, 120);
  // Calls that were sent to an upstream always have their line.
  tellFakeCall(telemetry, fakeEntry);
  assert.equal(lines().length, 121);
  const suppressed = lines().map((line) => Number(parse(line)['suppressed'] ?? 0));
  assert.equal(
    suppressed.reduce((sum, count) => sum + count, 0),
    11_000 - 120,
  );
});

test('the client program is named only by a plain word, and messages for the client are not written', () => {
  const { refuse, lines } = write();
  const agents = {
    'OpenAI/JS 6.1': 'OpenAI',
    'curl/8.5.0': 'curl',
    'python-httpx/0.27': 'python-httpx',
    'sk secret': 'sk',
    '"}\n{': undefined,
  };
  for (const agent of Object.keys(agents)) refuse('invalid_api_key', 401, { 'user-agent': agent });
  refuse('invalid_api_key', 401, { 'user-agent': 'a'.repeat(40) });
  assert.deepEqual(
    lines().map((line) => parse(line)['agent']),
    [...Object.values(agents), undefined],
  );
  assert.doesNotMatch(lines().join(''), /words for the client/);
});
