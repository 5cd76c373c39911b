import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';

import { type RunningSimulator, startSimulator } from 'weir-simulator';

import type { DoctorReport } from '../../src/main/doctor/finding.ts';
import { examine, secret, show } from './doctor-kit.ts';

const known = 'a-key-that-the-vendors-know';
const vendors = ['anthropic', 'openai', 'gemini', 'xai'] as const;

let simulator: RunningSimulator;
before(async () => {
  simulator = await startSimulator({ apiKeys: [known] });
});
after(() => simulator.close());
beforeEach(() => simulator.reset());

const config = (): string =>
  `upstreams:\n${vendors.map((vendor) => `  ${vendor}: { vendor: ${vendor}, baseUrl: "${simulator.addresses[vendor]}", apiKey: "\${VENDOR_KEY}" }\n`).join('')}`;

const good = { VENDOR_KEY: known };

async function setFault(fault: string): Promise<void> {
  const faults = [{ fault, times: null }];
  const answer = await fetch(`${simulator.controlUrl}/settings`, { method: 'POST', body: JSON.stringify({ faults }) });
  assert.equal(answer.status, 200, await answer.text());
}

/**
 * The result of a check in each row, by its upstream and interface; for upstreams without rows, the result of the
 * connection to them.
 */
function cells(report: DoctorReport, check: string): ReadonlyMap<string, string> {
  const word = (found: { verdict: string; says?: string; advice?: string } | undefined): string =>
    `${found?.verdict ?? 'none'} ${found?.says ?? ''} -> ${found?.advice ?? ''}`;
  return new Map(
    report.upstreams.flatMap(({ upstream, matrix, findings }): (readonly [string, string])[] =>
      matrix.length === 0
        ? [[upstream, word(findings.at(-1))]]
        : matrix.map(({ dialect, results }) => [`${upstream} ${dialect}`, word(results.find((result) => result.check === check))]),
    ),
  );
}

describe("the vendors' own messages", () => {
  test('each vendor refuses a bad key in its own way, and each refusal is recognised', async () => {
    const report = await examine(config(), {}, { VENDOR_KEY: secret });
    assert.equal(report.upstreams.length, vendors.length);
    for (const { findings, upstream, matrix } of report.upstreams) {
      const finding = findings.find(({ subject }) => subject === 'credential');
      assert.equal(finding?.verdict, 'bad', show(report));
      assert.match(finding?.advice ?? '', /the key in VENDOR_KEY is refused; create a new key at https:\/\//, upstream);
      assert.deepEqual(matrix, [], 'no call is made with a refused key');
    }
    assert.ok(!JSON.stringify(report).includes(secret));
  });

  test('a model that none of the vendors has is reported', async () => {
    const report = await examine(config(), { model: 'missing-model', checks: ['reply'] }, good);
    for (const [row, words] of cells(report, 'reply')) assert.match(words, /^bad 40[04].*"missing-model" is not served/, row);
  });

  test('a cut stream is reported with the missing mark of its interface', async () => {
    await setFault('truncate;after=1;how=end');
    const said = cells(await examine(config(), { checks: ['stream'] }, good), 'stream');
    assert.match(said.get('anthropic anthropic-messages') ?? '', /^bad .*message_stop/);
    assert.match(said.get('openai openai-responses') ?? '', /^bad .*response\.completed/);
    assert.match(said.get('openai openai-chat') ?? '', /^bad .*\[DONE\]/);
    assert.match(said.get('gemini gemini-generate-content') ?? '', /^bad .*finishReason/);
  });

  for (const [fault, check, words] of [
    ['malformed-event;after=1', 'stream', /^bad .*events are not JSON/],
    ['error-event;after=1', 'stream', /^bad .*ends in an error/],
    ['reset-mid-stream;after=1', 'stream', /^bad the connection broke/],
    ['html;status=200', 'reply', /^bad 200 with an HTML page.*check baseUrl/],
    ['empty-body', 'reply', /^bad .* 0 bytes/],
    ['error-in-200;status=500', 'reply', /^bad /],
    ['status;status=429', 'reply', /^bad 429.*no calls left/],
    ['reset-before-headers', 'reply', /^bad the connection broke/],
    ['gzip', 'reply', /^bad .*compressed/],
    ['echo-credentials', 'reply', /^bad 401.*is refused/],
  ] as const) {
    test(`${fault}: reported for every interface`, async () => {
      await setFault(fault);
      const report = await examine(config(), { checks: [check] }, good);
      const said = cells(report, check);
      assert.ok(said.size >= vendors.length);
      for (const [row, told] of said) assert.match(told, words, row);
      assert.ok(!JSON.stringify(report).includes(known));
    });
  }

  for (const fault of [
    'line-ends;kind=crlf',
    'line-ends;kind=bom',
    'line-ends;kind=comments',
    'split-utf8',
    'unknown-event;after=1',
    'unknown-block',
  ]) {
    test(`${fault}: behaviour that every client has to handle is not a fault`, async () => {
      await setFault(fault);
      const report = await examine(config(), { checks: ['stream', 'stream-usage', 'utf8', 'tool-stream'] }, good);
      assert.equal(report.healthy, true, show(report));
    });
  }
});

describe('checks of interfaces other than chats', () => {
  const lines = (report: DoctorReport, upstream: string): readonly string[] =>
    (report.upstreams.find((one) => one.upstream === upstream)?.findings ?? [])
      .filter(({ subject, says }) => subject === 'services' || says.startsWith('POST '))
      .map(({ verdict, subject, says }) => `${verdict} ${subject}: ${says}`);

  test('routes of rankings, moderations and images are checked without cost', async () => {
    const { origin } = new URL(simulator.addresses.openai);
    const key = 'apiKey: "${VENDOR_KEY}"';
    const more =
      `  ranks: { vendor: openai-compatible, preset: jina, baseUrl: "${origin}/jina/v1", ${key} }\n` +
      `  nowhere: { vendor: openai-compatible, baseUrl: "${origin}/nowhere/v1", ${key}, quirks: { rerank: cohere, moderations: true } }\n`;
    const report = await examine(config() + more, { mayCall: false }, good);
    assert.ok(lines(report, 'openai').includes('good moderation: POST /v1/moderations is there'), show(report));
    assert.ok(lines(report, 'openai').includes('good image: POST /v1/images/generations is there'), show(report));
    assert.ok(lines(report, 'ranks').includes('good rerank: POST /jina/v1/rerank is there'), show(report));
    assert.deepEqual(lines(report, 'anthropic'), []);
    assert.ok(lines(report, 'nowhere').includes('warning rerank: POST /nowhere/v2/rerank is not there (404)'), show(report));
    assert.ok(lines(report, 'nowhere').includes('warning moderation: POST /nowhere/v1/moderations is not there (404)'), show(report));
  });

  test('a model with a task that none of its targets can do is reported', async () => {
    const models =
      'models:\n  ranker: { kind: rerank, targets: [{ upstream: openai, model: ranker }], price: { input: "0", output: "0" } }\n' +
      'tools: { fileSearch: { rerank: { model: ranker } } }\nmoderations: { standIn: no-such-model }\n';
    const report = await examine(config() + models, { mayCall: false }, good);
    const says = report.sections.flatMap(({ findings }) => findings.map((finding) => finding.says));
    for (const words of [
      'models.ranker.kind: no upstream of ranker ranks documents',
      'tools.fileSearch.rerank.model: no upstream of ranker ranks documents',
      'moderations.standIn: no upstream is known to serve no-such-model',
    ])
      assert.ok(says.includes(words), show(report));
  });
});
