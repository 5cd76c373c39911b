import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, mock, test } from 'node:test';

import { readEnvironment } from '../environment.ts';
import { checkClock } from './check-clock.ts';
import { checkDataDirectory } from './check-data-directory.ts';
import { checkRunningGateway } from './check-running-gateway.ts';
import type { Finding } from './finding.ts';

const lines = (findings: readonly Finding[]): readonly string[] =>
  findings.map(({ verdict, subject, says, advice }) => `${verdict} ${subject}: ${says}${advice === undefined ? '' : ` -> ${advice}`}`);

describe('the clock', () => {
  for (const [skews, verdict, words] of [
    [[], 'none', /nothing to compare/],
    [[0, -900, 400], 'good', /agrees/],
    [[-45_000], 'warning', /45 s ahead of/],
    [[3_600_000, 3_600_000], 'bad', /3600 s behind/],
    [[0, 3_600_000, 100], 'good', /agrees/],
  ] as const) {
    test(`differences of ${skews.join(', ') || 'nobody'}: ${verdict}`, () => {
      const finding = checkClock(skews);
      assert.equal(finding.verdict, verdict);
      assert.match(finding.says, words);
    });
  }
});

describe('the data directory', () => {
  const within = (step: (directory: string) => void): void => {
    const directory = mkdtempSync(join(tmpdir(), 'weir-doctor-data-'));
    try {
      step(directory);
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  };

  test('a missing directory is not created', () =>
    within((directory) => {
      assert.match(lines(checkDataDirectory(join(directory, 'deep', 'data')))[0] ?? '', /good directory: .*the first start makes it/);
      assert.deepEqual(readdirSync(directory), []);
    }));

  test('a file in its place is reported', () =>
    within((directory) => {
      writeFileSync(join(directory, 'data'), '');
      assert.match(lines(checkDataDirectory(join(directory, 'data'))).join(), /bad directory: .* is not a directory -> set WEIR_DATA_DIR/);
    }));

  test('the present and former holder and remaining segments are reported', () =>
    within((directory) => {
      writeFileSync(join(directory, 'weir.lock.holder'), `${process.pid} on ${hostname()}\n`);
      assert.match(
        lines(checkDataDirectory(directory)).join('\n'),
        new RegExp(`good gateway: in use by a gateway: process ${process.pid}`),
      );
      // Above the process numbers of any system.
      writeFileSync(join(directory, 'weir.lock.holder'), `99999999 on ${hostname()}\n`);
      mkdirSync(join(directory, 'journal'));
      writeFileSync(join(directory, 'journal', 'segment-0000000001.v1'), 'record');
      const left = lines(checkDataDirectory(directory)).join('\n');
      assert.match(left, /none gateway: process 99999999 .* is gone: it was killed/);
      assert.match(left, /none journal: 1 segment of an earlier run, 6 bytes: the next start settles/);
      writeFileSync(join(directory, 'weir.lock.holder'), 'nonsense \u001b[2J');
      assert.ok(!lines(checkDataDirectory(directory)).join().includes('\u001b'));
    }));
});

describe('the running gateway', () => {
  // The doctor waits a few seconds for an answer; here it always comes in time.
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
  afterEach(() => mock.timers.reset());

  const ask = async (answers: Readonly<Record<string, unknown>>): Promise<readonly string[]> => {
    const server = createServer((request, response) => response.end(JSON.stringify(answers[request.url ?? ''] ?? {}))).listen(
      0,
      '127.0.0.1',
    );
    await once(server, 'listening');
    const environment = readEnvironment({ WEIR_PORT: String((server.address() as AddressInfo).port) });
    try {
      return lines(await checkRunningGateway(environment, new AbortController().signal));
    } finally {
      server.close();
      server.closeAllConnections();
    }
  };

  test('a ready gateway is reported with its unhealthy targets', async () => {
    const subject = {
      upstreamId: 'openai',
      credentialId: 'default',
      upstreamModel: 'gpt',
      inFlight: 0,
      consecutiveFailures: 0,
      hasAnswered: true,
    };
    const targets = [
      { ...subject, state: 'healthy' },
      { ...subject, upstreamId: 'local', state: 'failing', againInMs: 4200 },
      { ...subject, upstreamModel: 'big', state: 'rejected' },
    ];
    const said = await ask({ '/': { name: 'weir' }, '/health': { live: true, ready: true, version: '1.2.3', targets } });
    assert.match(said[0] ?? '', /good gateway: Weir 1\.2\.3 at http:\/\/127\.0\.0\.1:\d+ is ready/);
    assert.match(said[1] ?? '', /warning target: local\/gpt is failing, next attempt in 5 s/);
    assert.match(said[2] ?? '', /warning target: openai\/big is rejected -> .*renew/);
    assert.equal(said.length, 3);
  });

  test('a gateway that is not ready is reported with its reasons', async () => {
    const said = await ask({ '/': { name: 'weir' }, '/health': { live: true, ready: false, reasons: ['journal: disk full'] } });
    assert.match(said.join(), /bad gateway: .* is not ready: journal: disk full/);
  });

  test('another program at the port is reported', async () => {
    assert.match((await ask({ '/': { hello: 'world' } })).join(), /warning gateway: something else than Weir .*WEIR_PORT/);
  });
});
