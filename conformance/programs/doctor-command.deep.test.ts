import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';

import { cleanEnvironment, program, startWeir } from '../support/start-weir.ts';
import { configOf, secret, startOddServer, unusedPort } from './doctor-kit.ts';
import { runCommand } from './run-command.ts';
import { runWeir } from './run-weir.ts';

const base = mkdtempSync(join(tmpdir(), 'weir-doctor-command-'));
after(() => rmSync(base, { recursive: true, force: true }));

let last = 0;
function fresh(): string {
  last += 1;
  const directory = join(base, String(last));
  mkdirSync(directory);
  return directory;
}

const unused = { WEIR_PORT: '0', WEIR_MONITOR_PORT: '0', WEIR_CONSOLE_PORT: 'off' };

/** The environment of a program that is started in a directory. */
const inside = (directory: string): Record<string, string> => ({
  ...unused,
  WEIR_CONFIG: join(directory, 'weir.yaml'),
  WEIR_DATA_DIR: join(directory, 'weir-data'),
});

/** The parts that differ from run to run: ports, times, disk space and the directory. */
const steady = (text: string): string =>
  text
    .replaceAll(/127\.0\.0\.1(:| port )\d+/g, '127.0.0.1$1N')
    .replaceAll(/\(\d+ ms\)/g, '(N ms)')
    .replaceAll(/[\d.]+ GiB/g, 'N GiB')
    .replaceAll(/directory {2}\S+weir-data/g, 'directory  …weir-data')
    .replaceAll(/prices\s+\S+/g, 'prices N');

/** @param sample the whole output, in which a line that is only an ellipsis stands for any number of lines */
function assertSample(sample: string, output: string): void {
  const parts = sample.split(/^…\n/m);
  let end = 0;
  for (const part of parts) {
    const start = output.indexOf(part, end);
    assert.ok(start !== -1, `the guide shows this, and the doctor does not print it:\n${part}\nIt prints:\n${output}`);
    if (end === 0) assert.equal(start, 0, 'the sample has the beginning of the output');
    end = start + part.length;
  }
  assert.equal(output.slice(end), '', 'the sample has the end of the output');
}

describe('weir doctor', { concurrency: 3 }, () => {
  test('the sample in the guide matches its output', async () => {
    const ended = await runWeir(['doctor'], { COLUMNS: '110', WEIR_PORT: String(await unusedPort()) }, fresh());
    assert.equal(ended.code, 0, ended.stdout + ended.stderr);
    const guide = readFileSync(join(import.meta.dirname, '../../docs/guide/doctor.md'), 'utf8');
    const sample = /weir doctor\n```\n[^`]*```text\n([^]*?)```/.exec(guide)?.[1] ?? '';
    assertSample(steady(sample), steady(ended.stdout));
    // oxlint-disable-next-line no-control-regex -- colour is what is not to be there
    assert.doesNotMatch(ended.stdout, /\u001b/, 'without a terminal there is no colour');
  });

  test('as JSON: only JSON, exit code 1 if a check is bad, and no secret', async () => {
    await using server = await startOddServer((_request, body, response) => {
      if (body === undefined) return false;
      response.writeHead(401, { 'content-type': 'application/json' }).end(JSON.stringify({ error: { message: `bad key ${secret}` } }));
      return true;
    });
    const directory = fresh();
    writeFileSync(join(directory, 'weir.yaml'), configOf(server.url));
    const ended = await runCommand(['doctor', '--json', '--timeout', '5'], { ...inside(directory), ODD_KEY: secret });
    assert.equal(ended.code, 1, ended.stderr);
    const report = JSON.parse(ended.stdout) as {
      healthy: boolean;
      upstreams: { matrix: { results: { check: string; advice?: string }[] }[] }[];
    };
    assert.equal(report.healthy, false);
    assert.match(report.upstreams[0]?.matrix[0]?.results[0]?.advice ?? '', /the key in ODD_KEY is refused/);
    assert.ok(!ended.stdout.includes(secret));
  });

  test('every problem of a configuration is named with its position, and no upstream is called', async () => {
    const directory = fresh();
    writeFileSync(join(directory, 'weir.yaml'), 'upstreams:\n  a:\n    vendor: opanai\ntimeZone: Mars/Olympus\n');
    const ended = await runCommand(['doctor'], inside(directory));
    assert.equal(ended.code, 1);
    assert.match(ended.stdout, /weir\.yaml:3:13/);
    assert.doesNotMatch(ended.stdout, /Conformance/);
    const missing = await runCommand(['doctor'], { ...inside(directory), WEIR_CONFIG: join(directory, 'none.yaml') });
    assert.equal(missing.code, 1);
    assert.match(missing.stdout, /none\.yaml, which does not exist/);
    assert.doesNotMatch(missing.stderr, /\n\s+at /);
  });

  test('invalid options are refused with a message', async () => {
    for (const [options, words] of [
      [['--check', 'everything'], /reply, stream/],
      [['--timeout', 'soon'], /seconds/],
      [['--upstream', 'nobody'], /no upstream "nobody"/],
    ] as const) {
      const ended = await runCommand(['doctor', ...options], { ...unused, WEIR_DATA_DIR: join(fresh(), 'weir-data') });
      assert.equal(ended.code, 1);
      assert.match(ended.stderr, words);
      assert.doesNotMatch(ended.stderr, /\n\s+at /);
    }
  });

  test('warnings: a missing price, a readable key in clear text, an unused key', async () => {
    await using server = await startOddServer();
    const directory = fresh();
    const path = join(directory, 'weir.yaml');
    const models = 'models:\n  small:\n    targets: [{ upstream: odd, model: tiny }]\n';
    writeFileSync(path, configOf(server.url, models).replace('"${ODD_KEY}"', secret));
    chmodSync(path, 0o644);
    const ended = await runCommand(['doctor', '--no-calls'], {
      ...inside(directory),
      OPENAI_API_KEY: 'sk-unused-0123456789',
      COLUMNS: '200',
    });
    assert.equal(ended.code, 0, ended.stdout);
    assert.match(ended.stdout, /! prices +model small has no price at odd\/tiny/);
    assert.match(ended.stdout, /! secrets +\S*weir\.yaml holds the key of odd in clear/);
    assert.match(ended.stdout, /chmod 600/);
    assert.match(ended.stdout, /OPENAI_API_KEY is set and not used/);
    assert.doesNotMatch(ended.stdout, /bills/, 'without costs no cost is named');
    assert.ok(!ended.stdout.includes(secret) && !ended.stdout.includes('sk-unused'));
  });

  test('a running gateway is found, and so is the owner of the directory', async () => {
    await using weir = await startWeir();
    const port = new URL(weir.gatewayUrl).port;
    const ended = await runCommand(['doctor', '--no-calls'], { WEIR_PORT: port, WEIR_DATA_DIR: weir.dataDirectory });
    assert.equal(ended.code, 0, ended.stdout);
    assert.match(ended.stdout, /✓ gateway +Weir.* is ready/);
    assert.ok(ended.stdout.includes(`in use by a gateway: process ${weir.process.pid ?? 0}`), ended.stdout);
    await weir.stop('SIGKILL');
    await unusedPort(Number(port));
    const later = await runCommand(['doctor', '--no-calls'], { WEIR_PORT: port, WEIR_DATA_DIR: weir.dataDirectory });
    assert.match(later.stdout, /– gateway +none runs/);
    assert.match(later.stdout, /is gone: it was killed/);
  });

  test('a signal ends it at once with the results so far, and exit code 130', async () => {
    const asked = Promise.withResolvers<void>();
    await using server = await startOddServer(() => {
      asked.resolve();
      return true;
    });
    const directory = fresh();
    writeFileSync(join(directory, 'weir.yaml'), configOf(server.url));
    const child = spawn(process.execPath, [program, 'doctor', '--timeout', '600'], {
      cwd: directory,
      env: cleanEnvironment({ ...unused, ODD_KEY: secret }),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let printed = '';
    child.stdout.on('data', (piece: Buffer) => void (printed += piece.toString()));
    const exited = once(child, 'close');
    await asked.promise;
    child.kill('SIGINT');
    assert.deepEqual(await exited, [130, null]);
    assert.match(printed, /Interrupted/);
  });
});
