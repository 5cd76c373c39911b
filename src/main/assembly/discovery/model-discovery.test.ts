import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, test } from 'node:test';

import { createUpstreamClient } from '../../../platform/http/upstream-client.ts';
import type { ModelListSource } from './fetch-model-list.ts';
import { createModelDiscovery, type ModelDiscovery, type ModelDiscoveryOptions } from './model-discovery.ts';

type Answer = (response: ServerResponse, request: IncomingMessage) => void;
type Entry = { readonly level: string; readonly data: Record<string, unknown> };

const json =
  (value: unknown, status = 200): Answer =>
  (response) =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
const list = (...ids: readonly string[]): Answer => json({ object: 'list', data: ids.map((id) => ({ id, object: 'model' })) });

/** Runs a discovery against a server with the given answers; `happened` resolves at the next change or log entry. */
async function run(
  first: Answer,
  use: (tools: {
    readonly discovery: ModelDiscovery;
    readonly source: ModelListSource;
    readonly answer: (next: Answer) => void;
    readonly until: (condition: () => boolean) => Promise<void>;
    readonly logged: readonly Entry[];
    readonly requests: readonly IncomingMessage[];
    readonly names: (upstreamId?: string) => readonly string[];
  }) => Promise<void>,
  options: Partial<ModelDiscoveryOptions> = {},
): Promise<void> {
  let current = first;
  const requests: IncomingMessage[] = [];
  const logged: Entry[] = [];
  let wake = Promise.withResolvers<void>();
  const happened = (): void => {
    wake.resolve();
    wake = Promise.withResolvers();
  };
  const server = createServer((request, response) => {
    requests.push(request);
    current(response, request);
    happened();
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const log =
    (level: string) =>
    (data: unknown): void => {
      logged.push({ level, data: data as Entry['data'] });
      happened();
    };
  const discovery = createModelDiscovery({
    logger: { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') },
    onChange: happened,
    timeoutMs: 60_000,
    ...options,
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const url = `${origin}/v1/models`;
  const client = createUpstreamClient({ origin, connectTimeoutMs: 30_000, headerBytesMax: 16_384 });
  try {
    await use({
      discovery,
      source: { upstreamId: 'local', url, headers: { authorization: 'Bearer k' }, client },
      answer: (next) => void (current = next),
      until: async (condition) => {
        while (!condition()) await wake.promise;
      },
      logged,
      requests,
      names: (upstreamId = 'local') => (discovery.models().get(upstreamId) ?? []).map(({ name }) => name),
    });
  } finally {
    discovery.close();
    await client.close();
    server.closeAllConnections();
    server.close();
  }
}

describe('the list', () => {
  for (const [what, answer, expected] of [
    ['in OpenAI form', list('a', 'b'), ['a', 'b']],
    ['bare', json([{ id: 'a' }]), ['a']],
    ['with names twice', list('a', 'a'), ['a']],
    ['with entries that are none', json({ data: [null, 'x', {}, { id: 7 }, { id: '' }, { id: 'n'.repeat(257) }, { id: 'a' }] }), ['a']],
  ] as const) {
    test(`${what} is read`, async () => {
      await run(answer, async ({ discovery, source, until, names, requests }) => {
        discovery.watch([source]);
        await until(() => names().length > 0);
        assert.deepEqual(names(), expected);
        assert.deepEqual([requests[0]?.method, requests[0]?.url, requests[0]?.headers.authorization], ['GET', '/v1/models', 'Bearer k']);
      });
    });
  }

  test('reports the creation time of models, if the server sends it', async () => {
    const answer = json({
      data: [
        { id: 'a', created: 1_700_000_000 },
        { id: 'b', created: 0 },
        { id: 'c', created: 'x' },
      ],
    });
    await run(answer, async ({ discovery, source, until, names }) => {
      discovery.watch([source]);
      await until(() => names().length > 0);
      assert.deepEqual(discovery.models().get('local'), [{ name: 'a', createdAtMs: 1_700_000_000_000 }, { name: 'b' }, { name: 'c' }]);
    });
  });

  for (const [what, answer, reason] of [
    ['an error', json({ error: {} }, 401), /status 401/],
    ['a redirect, which could carry the credential elsewhere', (response) => void response.writeHead(302, { location: '/' }).end(), /302/],
    ['HTML', (response) => void response.end('<html>'), /JSON/],
    ['another JSON', json({ models: [] }), /not a list/],
    ['a list without end', json({ data: Array.from({ length: 5001 }, (_, id) => ({ id: String(id) })) }), /5000 models/],
    ['a body without end', (response) => void response.end(Buffer.alloc(8 * 1024 * 1024 + 1, ' ')), /8388608 bytes/],
    ['a broken connection', (response) => response.destroy(), /./],
  ] satisfies readonly (readonly [string, Answer, RegExp])[]) {
    test(`${what} is logged, and the last good list stays`, async () => {
      await run(list('a'), async ({ discovery, source, until, names, answer: next, logged }) => {
        discovery.watch([source]);
        await until(() => names().length > 0);
        next(answer);
        discovery.refresh();
        await until(() => logged.some(({ level }) => level === 'warn'));
        const told = logged.find(({ level }) => level === 'warn');
        assert.match(String(told?.data['reason']), reason);
        assert.equal(told?.data['modelCount'], 1);
        assert.deepEqual(names(), ['a']);
      });
    });
  }

  test('a silent server is aborted at the limit', async () => {
    const silent: Answer = () => {};
    await run(
      silent,
      async ({ discovery, source, until, logged }) => {
        discovery.watch([source]);
        await until(() => logged.length > 0);
        assert.match(String(logged[0]?.data['reason']), /no whole answer within 20 ms/);
      },
      { timeoutMs: 20 },
    );
  });
});

describe('repeated requests', () => {
  test('a server that is down is logged once, requested again, and found when it starts', async () => {
    await run(
      json({}, 503),
      async ({ discovery, source, until, names, answer, logged, requests }) => {
        discovery.watch([source]);
        await until(() => requests.length >= 3);
        assert.equal(logged.filter(({ level }) => level === 'warn').length, 1);
        answer(list('a'));
        await until(() => names().length > 0);
      },
      { retryMs: 1, refreshMs: 86_400_000 },
    );
  });

  test('a changed list is reported, and an equal one is not', async () => {
    let changes = 0;
    await run(
      list('a'),
      async ({ discovery, source, until, names, answer, requests }) => {
        discovery.watch([source]);
        await until(() => requests.length >= 3);
        assert.equal(changes, 1);
        answer(list('a', 'b'));
        await until(() => requests.length >= 6);
        assert.deepEqual([changes, names()], [2, ['a', 'b']]);
      },
      { refreshMs: 1, onChange: () => void changes++ },
    );
  });

  test('the list of a removed or moved source is dropped, and that of a remaining source stays', async () => {
    await run(list('a'), async ({ discovery, source, until, names, answer }) => {
      const second = { ...source, upstreamId: 'second' };
      discovery.watch([source, second]);
      await until(() => names().length > 0 && names('second').length > 0);
      answer(() => {});
      discovery.watch([source]);
      assert.deepEqual([...discovery.models().keys()], ['local']);
      assert.deepEqual(names(), ['a']);
      discovery.watch([{ ...source, url: `${source.url}/elsewhere` }]);
      assert.deepEqual(names(), []);
    });
  });

  test('after the end no request is sent and no change is reported, also for a running request', async () => {
    let changes = 0;
    await run(
      () => {},
      async ({ discovery, source, until, logged, requests }) => {
        discovery.watch([source]);
        await until(() => requests.length === 1);
        const closed = new Promise((resolve) => requests[0]?.socket.once('close', resolve));
        discovery.close();
        await closed;
        assert.deepEqual([changes, logged, [...discovery.models()]], [0, [], []]);
      },
      { retryMs: 1, onChange: () => void changes++ },
    );
  });
});
