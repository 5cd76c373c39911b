import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import manifest from '../../package.json' with { type: 'json' };
import { isLong } from '../support/scale.ts';
import { startWeir } from '../support/start-weir.ts';
import { runCommand } from './run-command.ts';
import { runWeir } from './run-weir.ts';

const base = mkdtempSync(join(tmpdir(), 'weir-commands-'));
after(() => rmSync(base, { recursive: true, force: true }));

let lastDirectory = 0;
function freshDirectory(): string {
  lastDirectory += 1;
  return join(base, `data-${lastDirectory}`);
}

function configFile(text: string): string {
  const path = `${freshDirectory()}.yaml`;
  writeFileSync(path, text);
  return path;
}

/** The Node of the system, if it is one that Weir does not run on. */
const oldNode = ['/usr/bin/node', '/usr/local/bin/node'].find((path) => {
  const { status, stdout } = spawnSync(path, ['--version'], { encoding: 'utf8' });
  return status === 0 && Number(/^v(\d+)/.exec(stdout)?.[1]) < 26;
});

const free = { WEIR_PORT: '0', WEIR_MONITOR_PORT: '0', WEIR_CONSOLE_PORT: '0' };

describe('commands', { concurrency: 3 }, () => {
  test('help is printed for the program, for a command, and for a command that does not exist', async () => {
    const help = await runWeir(['--help'], {}, base);
    assert.equal(help.code, 0);
    for (const command of ['start', 'gateway', 'monitor', 'keys', 'tokens', 'config'])
      assert.match(help.stdout, new RegExp(`^  ${command}\\b`, 'm'));
    const keys = await runCommand(['keys', '--help']);
    assert.equal(keys.code, 0);
    for (const command of ['create', 'list', 'disable', 'enable', 'delete']) assert.match(keys.stdout, new RegExp(`^  ${command}\\b`, 'm'));
    const version = await runCommand(['--version']);
    assert.deepEqual([version.code, version.stdout], [0, `${manifest.version}\n`]);
    const unknown = await runWeir(['strat'], {}, base);
    assert.notEqual(unknown.code, 0);
    assert.match(unknown.stderr, /unknown command 'strat'\n\(Did you mean start\?\)/);
    const nested = await runCommand(['keys', 'creat'], { WEIR_DATA_DIR: freshDirectory() });
    assert.match(nested.stderr, /unknown command 'creat'\n\(Did you mean create\?\)/);
    assert.doesNotMatch(unknown.stderr, /\n\s+at /);
    const lacking = await runCommand(['keys', 'create', '--user', 'bob'], { WEIR_DATA_DIR: freshDirectory() });
    assert.notEqual(lacking.code, 0);
    assert.match(lacking.stderr, /--name/);
  });

  /** A line of each command whose output does not depend on the process; it needs only a fresh data directory. */
  const lines: readonly (readonly [words: readonly string[], code: number])[] = [
    [['keys', 'list'], 0],
    [['users', 'list', '--json'], 0],
    [['refusals', '--json'], 0],
    [['tokens', 'list'], 0],
    [['alerts', 'list'], 0],
    [['alerts', 'messages', '--json'], 0],
    [['alerts', 'test'], 1],
    [['targets', 'list'], 0],
    [['audit', 'list', '--json'], 0],
    [['audit', 'verify'], 0],
    [['audit', 'list', '--limit', '0'], 1],
    [['usage', '--json'], 0],
    [['reconcile', 'nothing.csv', '--vendor', 'openai'], 2],
    [['callbacks', 'secret', 'nobody-at-all'], 1],
    [['receipt', 'verify', 'nothing.json'], 2],
    [['migrate'], 0],
    [['upgrade', 'check'], 0],
    [['database', 'roles'], 0],
    [['prices', 'history'], 0],
    [['credits', 'show', 'nobody-at-all'], 1],
    [['config', 'check'], 0],
    [['nothing'], 1],
  ];
  // A process differs from the call of a function in its end and its streams, which all commands share.
  for (const [words, code] of isLong ? lines : lines.filter((_, at) => at % 4 === 2))
    test(`weir ${words.join(' ')}: as a process of its own it exits by itself, with the same output as in the test's process`, async () => {
      const [own, other] = [
        await runWeir(words, { WEIR_DATA_DIR: freshDirectory() }, base),
        await runCommand(words, { WEIR_DATA_DIR: freshDirectory() }),
      ];
      assert.equal(own.code, code, own.stderr);
      const named = ({ stdout, stderr, ...end }: typeof own) => ({
        ...end,
        stdout: stdout.replaceAll(/data-\d+/g, 'data'),
        stderr: stderr.replaceAll(/data-\d+/g, 'data'),
      });
      assert.deepEqual(named(own), named(other));
    });

  test('a second gateway on the same data directory is refused with the reason', async () => {
    await using first = await startWeir();
    const second = await runWeir(['gateway'], { ...free, WEIR_DATA_DIR: first.dataDirectory, OPENAI_API_KEY: 'sk-none-0123456789' }, base);
    assert.equal(second.code, 1);
    assert.ok(second.stderr.includes(first.dataDirectory), second.stderr);
    assert.match(second.stderr, /in use/);
    assert.ok(second.stderr.includes(String(first.process.pid)), 'the refusal names the process that uses it');
    assert.doesNotMatch(second.stderr, /\n\s+at /, 'a message and no stack');
    const third = await runCommand(['start'], { ...free, WEIR_DATA_DIR: first.dataDirectory });
    assert.equal(third.code, 1);
    assert.match(third.stderr, /in use/);
  });

  test(
    'an old Node says in one line what to do, for weir.js and for the source of the program',
    { skip: oldNode === undefined && 'this system has no Node before 26' },
    () => {
      for (const file of ['weir.js', 'src/main/weir.ts']) {
        const { status, stderr } = spawnSync(oldNode ?? '', [fileURLToPath(new URL(`../../${file}`, import.meta.url)), 'keys', 'list'], {
          encoding: 'utf8',
        });
        assert.deepEqual([status, stderr.trim().split('\n').length], [1, 1], stderr);
        assert.match(stderr, /^weir: Weir needs Node 26, and this is Node \d+\.\d+\.\d+\. npm ci installs the right one/);
      }
    },
  );

  test('weir health: 0 if a program is ready or runs, 1 with the reason if it is not, does not run, or is not Weir', async () => {
    const weir = await startWeir();
    const { port: gateway } = new URL(weir.gatewayUrl);
    const { port: monitor } = new URL(weir.monitorUrl);
    const health = async (words: readonly string[], environment: Readonly<Record<string, string>>): Promise<unknown[]> => {
      const { code, stdout, stderr } = await runCommand(['health', ...words], environment);
      return [code, stdout, stderr];
    };
    assert.deepEqual(await health([], { WEIR_PORT: gateway }), [0, `the gateway at ${weir.gatewayUrl} is ready\n`, '']);
    assert.deepEqual(await health(['monitor', '--live'], { WEIR_MONITOR_PORT: monitor, WEIR_HOST: '0.0.0.0' }), [
      0,
      `the monitor at ${weir.monitorUrl} runs\n`,
      '',
    ]);
    await weir.stop('SIGTERM');
    assert.deepEqual(await health([], { WEIR_PORT: gateway }), [1, '', `no gateway runs at ${weir.gatewayUrl}\n`]);
    await using other = createHttpServer((request, response) =>
      response.writeHead(503).end(request.url === '/health/ready' ? '{"ready":false,"reasons":["one","two"]}' : 'no'),
    ).listen(0, '127.0.0.1');
    await once(other, 'listening');
    const WEIR_CONSOLE_PORT = String((other.address() as AddressInfo).port);
    const at = `the console at http://127.0.0.1:${WEIR_CONSOLE_PORT}`;
    assert.deepEqual(await health(['console'], { WEIR_CONSOLE_PORT }), [1, '', `${at} is not ready: one; two\n`]);
    assert.deepEqual(await health(['console', '--live'], { WEIR_CONSOLE_PORT }), [
      1,
      '',
      `${at} is not ready: it answered with status 503\n`,
    ]);
    assert.match(String((await health(['console'], { WEIR_CONSOLE_PORT: 'off' }))[2]), /WEIR_CONSOLE_PORT is off/);
    assert.match(String((await health([], { WEIR_PORT: '0' }))[2]), /WEIR_PORT is 0/);
  });

  test('a directory of a killed process is available at once', async () => {
    const dataDirectory = freshDirectory();
    const { mkdirSync } = await import('node:fs');
    mkdirSync(dataDirectory);
    const first = await startWeir({ dataDirectory });
    await first.stop('SIGKILL');
    await using second = await startWeir({ dataDirectory });
    assert.equal(second.process.exitCode, null);
  });

  test('a data directory that cannot be created ends every program at once, with one line that names it', async () => {
    const file = configFile('');
    const places = [file, join(file, 'below'), ...(existsSync('/proc/self/stat') ? ['/proc', '/proc/weir', '/proc/weir/below'] : [])];
    const commands = [['start'], ['gateway'], ['gateway', '--workers', '2'], ['monitor'], ['keys', 'list']];
    for (const [at, place] of places.entries()) {
      const environment = { ...free, WEIR_DATA_DIR: place, OPENAI_API_KEY: 'sk-none-0123456789' };
      // Each runs as a process with one of the paths.
      const ended = await Promise.all(
        commands.map((command) => (at === 0 ? runWeir(command, environment, base) : runCommand(command, environment))),
      );
      for (const [index, { code, stdout, stderr }] of ended.entries()) {
        const what = `${commands[index]?.join(' ')} in ${place}: ${stderr}`;
        assert.deepEqual([code, stdout], [1, ''], what);
        assert.match(stderr, /^weir: [^\n]+\n$/, what);
        assert.ok(stderr.includes(place), what);
      }
    }
  });

  for (const [variable, what] of [
    ['WEIR_PORT', 'gateway'],
    ['WEIR_MONITOR_PORT', 'monitor'],
    ['WEIR_CONSOLE_PORT', 'console'],
  ] as const) {
    test(`a used port is named with its variable (${what})`, async () => {
      const server = createServer().listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      try {
        const ended = await runCommand(['start'], { ...free, [variable]: String(port), WEIR_DATA_DIR: freshDirectory() });
        assert.equal(ended.code, 1);
        assert.match(ended.stderr, new RegExp(`port ${port}.*taken.*${variable}`));
        assert.doesNotMatch(ended.stderr, /\n\s+at /);
      } finally {
        server.close();
      }
    });
  }

  test('the gateway of an all-in-one start does not listen before its monitor does', async () => {
    const [taken, probe] = [createServer().listen(0, '127.0.0.1'), createServer().listen(0, '127.0.0.1')];
    await Promise.all([once(taken, 'listening'), once(probe, 'listening')]);
    const [monitorPort, port] = [taken, probe].map((server) => (server.address() as AddressInfo).port);
    probe.close();
    await once(probe, 'close');
    let listened = false;
    const knock = setInterval(() => {
      const socket = connect(port ?? 0, '127.0.0.1');
      socket.on('connect', () => (listened = true)).on('error', () => undefined);
      socket.on('connect', () => socket.destroy());
    }, 2);
    try {
      const environment = { WEIR_PORT: String(port), WEIR_MONITOR_PORT: String(monitorPort), WEIR_DATA_DIR: freshDirectory() };
      const ended = await runWeir(['start'], environment, base);
      assert.match(ended.stderr, /WEIR_MONITOR_PORT/);
      assert.equal(listened, false, 'it reported that it was ready before the monitor listened');
    } finally {
      clearInterval(knock);
      taken.close();
    }
  });

  const badConfigs: readonly [name: string, text: string, position: RegExp, words: RegExp][] = [
    ['a misspelt field', 'timeouts:\n  idelMs: 5000\n', /:2:\d+ /, /idelMs: is not a known field; did you mean idleMs\?/],
    ['a wrong type', 'limits:\n  requestBytesMax: lots\n', /:2:20 /, /requestBytesMax/],
    ['broken YAML', 'upstreams:\n  a: [1, 2\nmodels: {}\n', /:\d+:\d+ /, /./],
    ['a field twice', 'timeZone: UTC\ntimeZone: UTC\n', /:2:1 /, /unique|twice/i],
    [
      'an unknown upstream',
      'upstreams:\n  one:\n    vendor: openai\n    apiKey: x\nmodels:\n  m:\n    targets:\n      - upstream: two\n',
      /:8:19 /,
      /"two".*one/,
    ],
    [
      'a missing variable',
      'upstreams:\n  one:\n    vendor: openai\n    apiKey: ${NO_SUCH_KEY_ANYWHERE}\n',
      /:4:13 /,
      /NO_SUCH_KEY_ANYWHERE/,
    ],
    ['a vendor that does not exist', 'upstreams:\n  one:\n    vendor: opanai\n', /:3:13 /, /vendor/],
    ['a time zone that does not exist', 'timeZone: Mars/Olympus\n', /:1:11 /, /Mars\/Olympus/],
    [
      'a price that is not a decimal',
      'models:\n  m:\n    targets: [{upstream: one}]\n    price: {input: 1e3, output: "2"}\n',
      /:4:\d+ /,
      /input/,
    ],
  ];
  for (const [name, text, position, words] of badConfigs) {
    test(`a configuration with ${name}: position and reason, exit code 1`, async () => {
      const path = configFile(text);
      for (const command of name === 'a misspelt field' || name === 'a missing variable'
        ? [['config', 'check'], ['start']]
        : [['config', 'check']]) {
        const environment = { ...free, WEIR_CONFIG: path, WEIR_DATA_DIR: freshDirectory() };
        const ended = name === 'a missing variable' ? await runWeir(command, environment, base) : await runCommand(command, environment);
        assert.equal(ended.code, 1, ended.stdout);
        assert.match(ended.stderr, position);
        assert.match(ended.stderr, words);
        assert.ok(ended.stderr.includes(path));
        assert.doesNotMatch(ended.stderr, /\n\s+at /);
        assert.doesNotMatch(ended.stdout, /ready/);
      }
    });
  }

  test('a missing configuration is named', async () => {
    const ended = await runWeir(['start'], { ...free, WEIR_CONFIG: '/nowhere/weir.yaml', WEIR_DATA_DIR: freshDirectory() }, base);
    assert.equal(ended.code, 1);
    assert.match(ended.stderr, /\/nowhere\/weir\.yaml/);
  });

  test('an invalid variable is named', async () => {
    for (const [name, value] of [
      ['WEIR_PORT', '80a'],
      ['WEIR_PORT', '99999'],
      ['WEIR_LOG_LEVEL', 'loud'],
    ] as const) {
      const ended = await runCommand(['start'], { WEIR_DATA_DIR: freshDirectory(), [name]: value });
      assert.equal(ended.code, 1);
      assert.match(ended.stderr, new RegExp(name));
    }
  });

  test('vendor keys in the environment select the real vendors, and are not shown', async () => {
    const key = 'sk-real-vendor-key-0123456789';
    const check = await runCommand(['config', 'check'], {
      OPENAI_API_KEY: key,
      ANTHROPIC_API_KEY: key,
      GEMINI_API_KEY: key,
      XAI_API_KEY: key,
    });
    assert.equal(check.code, 0, check.stderr);
    for (const vendor of ['openai', 'anthropic', 'gemini', 'xai']) assert.match(check.stdout, new RegExp(`upstream ${vendor}:`));
    assert.ok(!`${check.stdout}${check.stderr}`.includes(key));
    const one = await runCommand(['config', 'check'], { GOOGLE_API_KEY: key, OPENAI_API_KEY: '' });
    assert.match(one.stdout, /upstream gemini:/);
    assert.doesNotMatch(one.stdout, /upstream openai:/);
    const none = await runCommand(['config', 'check'], {});
    assert.equal(none.code, 0);
    assert.match(none.stdout, /simulated/);
    await using real = await startWeir({ environment: { XAI_API_KEY: key } });
    assert.match(real.output(), /from the keys in the environment: xai/);
    assert.ok(!real.output().includes(key));
  });

  test('a gateway without any upstream says what to do', async () => {
    const ended = await runCommand(['gateway'], { ...free, WEIR_DATA_DIR: freshDirectory() });
    assert.equal(ended.code, 1);
    assert.match(ended.stderr, /OPENAI_API_KEY/);
    assert.doesNotMatch(ended.stderr, /\n\s+at /);
  });

  test('a valid configuration lists where each model goes', async () => {
    const path = configFile(
      'upstreams:\n  main:\n    vendor: openai\n    apiKey: ${MY_KEY:-none}\nmodels:\n  fast:\n    targets:\n      - {upstream: main, model: gpt-5-mini}\n',
    );
    const check = await runCommand(['config', 'check'], { WEIR_CONFIG: path });
    assert.equal(check.code, 0, check.stderr);
    assert.match(check.stdout, /model fast: main\/gpt-5-mini/);
  });
});
