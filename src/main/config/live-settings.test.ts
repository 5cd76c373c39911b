import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';

import { systemClock } from '../../platform/clock.ts';
import type { UpstreamClient } from '../../platform/http/upstream-client.ts';
import { createLiveSettings, type LiveSettings, type LiveSettingsOptions } from './live-settings.ts';

const directories: string[] = [];
after(() => {
  for (const directory of directories) rmSync(directory, { recursive: true, force: true });
});

/** A price book with one model of a compatible server. */
const priceBook = (version: string, input: string): string =>
  JSON.stringify({
    version,
    currency: 'USD',
    entries: [
      {
        vendor: 'openai-compatible',
        model: 'priced',
        displayName: 'Priced',
        effectiveFrom: '2026-01-01',
        tiers: [{ inputAbove: 0, prices: { input, output: '1' } }],
        source: 'test',
        checked: '2026-01-01',
      },
    ],
  });

const upstream = (url: string): string => `upstreams:\n  one: { vendor: openai-compatible, baseUrl: "${url}", discoverModels: false }\n`;

type Entry = { readonly level: string; readonly data: Record<string, unknown>; readonly message: string };

async function run(
  text: string,
  use: (
    live: LiveSettings,
    tools: { write: (text: string, name?: string) => void; remove: () => void; logged: Entry[] },
  ) => Promise<void> | void,
  options: Partial<LiveSettingsOptions> = {},
): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'weir-live-'));
  directories.push(directory);
  const path = join(directory, 'weir.yaml');
  const write = (content: string, name = 'weir.yaml'): void => writeFileSync(join(directory, name), content);
  write(priceBook('ours', '1'), 'prices.json');
  write(text);
  const logged: Entry[] = [];
  const log =
    (level: string) =>
    (data: unknown, message?: unknown): void =>
      void logged.push({ level, data: data as Entry['data'], message: String(message) });
  const live = createLiveSettings({
    path,
    variable: () => undefined,
    simulated: undefined,
    clock: systemClock,
    logger: { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') },
    pollMs: 86_400_000,
    retireAfterMs: 0,
    ...options,
  });
  try {
    await use(live, { write, remove: () => rmSync(path), logged });
  } finally {
    await live.close();
  }
}

const errors = (logged: readonly Entry[]): readonly string[] =>
  logged.filter(({ level }) => level === 'error').map(({ data }) => String(data['reason']));
const clientOf = (live: LiveSettings): UpstreamClient | undefined => live.settings().routing.upstreams[0]?.client;

describe('the first load', () => {
  test('an invalid configuration stops the start, and the error has its position', async () => {
    await assert.rejects(
      run('timeZone: Nowhere\n', () => {}),
      { name: 'ConfigError', message: /weir\.yaml:1:11 timeZone/ },
    );
  });

  test('a start without an upstream fails, and the error names the solutions', async () => {
    await assert.rejects(
      run('', () => {}),
      { name: 'ConfigError', message: /there is no upstream: name one, or set a vendor key such as OPENAI_API_KEY/ },
    );
  });

  test('a target whose upstream is not in the environment stops the start', async () => {
    const variable = (name: string): string | undefined => (name === 'OPENAI_API_KEY' ? 'k' : undefined);
    await assert.rejects(
      run('models: { m: { targets: [{ upstream: nowhere }] } }\n', () => {}, { variable }),
      { name: 'ConfigError', message: /no upstream "nowhere"; there are: openai/ },
    );
  });

  test('a missing or invalid price book stops the start, and the error names it', async () => {
    for (const prices of ['absent.json', 'weir.yaml'])
      await assert.rejects(
        run(`${upstream('http://h:1')}prices: ${prices}\n`, () => {}),
        { name: 'ConfigError', message: new RegExp(`prices: .*${prices}`) },
      );
  });

  test('a warning names models without a price, but not models with their own price or with one in the book', async () => {
    const models =
      'models:\n  free: { targets: [{ upstream: one }] }\n  own: { targets: [{ upstream: one }], price: { input: "1", output: "1" } }\n  alias: { targets: [{ upstream: one, model: priced }] }\n';
    await run(`${upstream('http://h:1')}prices: prices.json\n${models}`, (_live, { logged }) => {
      assert.deepEqual(
        logged.map(({ level, data }) => [level, data]),
        [['warn', { models: ['free'] }]],
      );
    });
  });
});

describe('a reload', () => {
  test('a change takes effect, and settings that were read before stay as they were', async () => {
    await run(`${upstream('http://h:1')}validation: compatible\n`, (live, { write, logged }) => {
      const before = live.settings();
      write(`${upstream('http://h:1')}validation: documented\ntimeouts: { idleMs: 77 }\n`);
      assert.equal(live.reload(), true);
      assert.deepEqual([live.settings().validation, live.settings().timeouts.idleMs], ['documented', 77]);
      assert.equal(live.config().validation, 'documented');
      assert.equal(before.validation, 'compatible');
      assert.deepEqual(
        logged.map(({ level }) => level),
        ['info'],
      );
    });
  });

  test('a reload without a change does nothing', async () => {
    await run(upstream('http://h:1'), (live, { write, logged }) => {
      const before = live.settings();
      assert.equal(live.reload(), false);
      write(upstream('http://h:1'));
      assert.equal(live.reload(), false);
      assert.equal(live.settings(), before);
      assert.deepEqual(logged, []);
    });
  });

  for (const [hazard, bad, reason] of [
    ['broken YAML', 'upstreams: [', /weir\.yaml:1:/],
    ['a wrong value', `${upstream('http://h:1')}validation: strict\n`, /validation/],
    ['removal of the last upstream', 'validation: documented\n', /there is no upstream/],
    ['a missing price book', `${upstream('http://h:1')}prices: absent.json\n`, /absent\.json/],
  ] as const) {
    test(`after ${hazard}, the last good configuration stays, and the error is logged once`, async () => {
      await run(upstream('http://h:1'), (live, { write, logged }) => {
        const good = live.settings();
        write(bad);
        for (let polls = 0; polls < 3; polls++) assert.equal(live.reload(), false);
        assert.equal(live.settings(), good);
        assert.equal(errors(logged).length, 1);
        assert.match(errors(logged)[0] ?? '', reason);
        assert.match(live.problem() ?? '', reason);
        write(upstream('http://h:1'));
        live.reload();
        write(bad);
        live.reload();
        assert.equal(errors(logged).length, 2, 'and logged once more when it returns');
        write(`${upstream('http://h:1')}validation: documented\n`);
        assert.equal(live.reload(), true, 'a good one is accepted');
      });
    });
  }

  test('a file that is missing for a moment while it is swapped changes nothing', async () => {
    await run(upstream('http://h:1'), (live, { write, remove, logged }) => {
      const good = live.settings();
      remove();
      assert.equal(live.reload(), false);
      assert.equal(live.settings(), good);
      assert.equal(errors(logged).length, 1);
      write(upstream('http://h:1'));
      assert.equal(live.reload(), false);
      assert.equal(live.settings(), good);
    });
  });

  test('a changed price book causes a new price version, and an invalid one does not', async () => {
    await run(`${upstream('http://h:1')}prices: prices.json\n`, (live, { write, logged }) => {
      const version = (): string => live.settings().routing.priceBook.version;
      const before = version();
      write(priceBook('ours', '2'), 'prices.json');
      assert.equal(live.reload(), true);
      assert.notEqual(version(), before);
      const after = version();
      write('{"version":', 'prices.json');
      assert.equal(live.reload(), false);
      assert.equal(version(), after);
      assert.match(errors(logged)[0] ?? '', /prices\.json/);
    });
  });

  test('the files are polled', async (context) => {
    context.mock.timers.enable({ apis: ['setInterval'] });
    await run(
      upstream('http://h:1'),
      (live, { write }) => {
        write(`${upstream('http://h:1')}validation: documented\n`);
        context.mock.timers.tick(999);
        assert.equal(live.settings().validation, 'compatible');
        context.mock.timers.tick(1);
        assert.equal(live.settings().validation, 'documented');
      },
      { pollMs: 1000 },
    );
  });
});

describe('models that a server lists', () => {
  test('can be called as soon as the list arrives, and a reload keeps them and requests the list again', async () => {
    const asked: (() => void)[] = [];
    const server = createServer((_request, response) => {
      response.end(JSON.stringify({ data: [{ id: 'found' }] }));
      asked.shift()?.();
    });
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    const next = (): Promise<void> => new Promise((resolve) => void asked.push(resolve));
    const first = next();
    const text = `upstreams:\n  one: { vendor: openai-compatible, baseUrl: "http://127.0.0.1:${(server.address() as AddressInfo).port}/v1" }\n`;
    try {
      await run(text, async (live, { write, logged }) => {
        assert.deepEqual(live.settings().routing.targetsOf('found'), [], 'the start does not wait for the list');
        await first;
        while (live.settings().routing.targetsOf('found').length === 0) await setImmediate();
        assert.deepEqual(
          logged.map(({ level, data }) => [level, data]),
          [['info', { upstream: 'one', modelCount: 1 }]],
        );
        const again = next();
        write(`${text}validation: documented\n`);
        assert.equal(live.reload(), true);
        assert.equal(live.settings().validation, 'documented');
        assert.equal(live.settings().routing.targetsOf('found')[0]?.upstreamModel, 'found');
        await again;
      });
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});

describe('connections', () => {
  test('stay open while their address is in use, and upstreams with the same address share them', async () => {
    const two = `${upstream('http://h:1/v1')}  two: { vendor: openai-compatible, baseUrl: "http://h:1/v2", discoverModels: false }\n`;
    await run(two, (live, { write }) => {
      const before = clientOf(live);
      assert.equal(live.settings().routing.upstreams[1]?.client, before);
      write(`${two}validation: documented\n`);
      assert.equal(live.reload(), true);
      assert.equal(clientOf(live), before);
      write(`${two}timeouts: { connectMs: 55 }\n`);
      assert.equal(live.reload(), true);
      assert.notEqual(clientOf(live), before, 'another timeout requires other connections');
    });
  });

  test('of an address that is no longer in use are closed when their calls have ended', async () => {
    const held = Promise.withResolvers<() => void>();
    const gone = Promise.withResolvers<void>();
    const server = createServer((_request, response) => held.resolve(() => response.end('late')));
    server.on('connection', (socket) => socket.once('close', () => gone.resolve()));
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const ask = (client: UpstreamClient | undefined) =>
      new Promise<string>((resolve, reject) => {
        let text = '';
        client?.send(
          { path: '/', method: 'GET', headers: {}, body: undefined },
          {
            onRequestStart: () => {},
            onResponseStart: () => {},
            onResponseData: (_controller, chunk) => void (text += chunk.toString()),
            onResponseEnd: () => resolve(text),
            onResponseError: (_controller, error) => reject(error),
          },
        );
      });
    try {
      await run(upstream(url), async (live, { write }) => {
        const former = clientOf(live);
        const running = ask(former);
        const release = await held.promise;
        write(upstream('http://h:1'));
        assert.equal(live.reload(), true);
        assert.notEqual(clientOf(live), former);
        release();
        assert.equal(await running, 'late');
        await gone.promise;
      });
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});
