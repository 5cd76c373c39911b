import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { test } from 'node:test';
import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify';
import { Ajv2020 } from 'ajv/dist/2020.js';
import readXlsxFile from 'read-excel-file/node';
import { fakeRow } from '../billing/statistics/testing/fake-row.ts';
import {
  type CountedCall,
  createMemoryReader,
  createMemoryStatisticsStore,
} from '../billing/statistics/testing/memory-statistics-store.ts';
import { statisticsLimitsDefault } from '../billing/statistics/statistics.ts';
import type { StatisticsStore } from '../billing/statistics/statistics-store.ts';
import { release } from '../platform/release.ts';
import type { Clock } from '../platform/clock.ts';
import { silentLogger } from '../platform/log.ts';
import type { Answers } from './answers/answers.ts';
import { createAnswers } from './answers/create-answers.ts';
import { closeGracefully } from '../platform/http/close-gracefully.ts';
import { createMonitor, monitorLimitsDefault } from './monitor.ts';
import type { MonitorLimits, MonitorOptions } from './monitor-options.ts';
import { monitorOpenApi } from './open-api.ts';

const startTime = 1_769_443_200;
const endTime = 1_769_616_000;
const body = { type: 3, startTime, endTime };
const clock: Clock = { nowMs: () => 1_769_700_000_000, monotonicMs: () => 0 };

const calls: readonly CountedCall[] = ['alice', 'bob'].map((userName, index) => ({
  acceptedAtMs: (startTime + index * 86_400) * 1000,
  userName,
  tokenName: 'ci',
  modelName: 'm-flash',
  promptTokens: 1200,
  completionTokens: 340,
  cacheTokens: 800,
  cacheCreationTokens: 0,
  useTimeMs: 17_400,
  amountNanoUsd: 120n,
}));

type Setup = Partial<Omit<MonitorOptions, 'limits'>> & {
  readonly store?: StatisticsStore;
  readonly rowsMax?: number;
  readonly limits?: Partial<MonitorLimits>;
};

function createApp({
  store = createMemoryStatisticsStore(calls),
  rowsMax = statisticsLimitsDefault.rowsMax,
  limits,
  ...options
}: Setup = {}): FastifyInstance {
  const reading = { reader: createMemoryReader(store), timeZone: 'Asia/Shanghai', limits: { ...statisticsLimitsDefault, rowsMax } };
  return createMonitor({
    answers: createAnswers({ ...reading, detailCallsMax: 1000, clock }),
    authenticate: (token) => Promise.resolve(token === 'admin' ? {} : token === 'alice' ? { userName: 'alice' } : undefined),
    clock,
    logger: silentLogger,
    health: () => Promise.resolve([]),
    limits: { ...monitorLimitsDefault, ...limits },
    ...options,
  });
}

function compileSchema(name: string): (value: unknown) => boolean {
  const check = new Ajv2020({ strict: false }).addSchema(monitorOpenApi(), 'api').getSchema(`api#/components/schemas/${name}`);
  return (value) => check?.(value) === true;
}

async function post(app: FastifyInstance, url: string, request: InjectOptions = {}): Promise<LightMyRequestResponse> {
  const headers = { token: 'admin', 'content-type': 'application/json', ...request.headers };
  return await app.inject({ method: 'POST', url, payload: JSON.stringify(body), ...request, headers });
}

function assertRefused(response: LightMyRequestResponse, status: number, message: RegExp | string): void {
  assert.equal(response.statusCode, status, response.body);
  assert.match(String(response.headers['content-type']), /^application\/json/);
  const reply: unknown = response.json();
  assert.deepEqual(Object.keys(reply ?? {}), ['code', 'message', 'data']);
  const { code, message: text, data } = reply as { code: number; message: string; data: unknown };
  assert.equal(code, status);
  assert.equal(data, null);
  if (typeof message === 'string') assert.equal(text, message);
  else assert.match(text, message);
}

test('the answer is the contract’s envelope, byte for byte', async () => {
  const response = await post(createApp(), '/bill/stats');
  assert.equal(response.statusCode, 200);
  const record = (time: string, timeGroup: number, userName: string): string =>
    `{"time":"${time}","timeGroup":${timeGroup},"userName":"${userName}","tokenName":"ci","modelName":"m-flash","totalPromptTokens":1200,` +
    '"totalCompletionTokens":340,"totalCacheTokens":800,"totalCacheCreationTokens":0,"totalUseTime":17,"callCount":1,"totalAmount":0.00000012}';
  assert.equal(
    response.body,
    `{"code":200,"message":"success","data":[${record('2026-01-27 00:00:00', startTime, 'alice')},${record('2026-01-28 00:00:00', startTime + 86_400, 'bob')}]}`,
  );
  assert.equal(response.headers['cache-control'], 'no-store');
});

test('a query without results is an empty list', async () => {
  const response = await post(createApp(), '/bill/stats', { payload: JSON.stringify({ ...body, tokenName: 'other' }) });
  assert.equal(response.body, '{"code":200,"message":"success","data":[]}');
});

test('a token sees only the calls of its own user, in both formats of the answer', async () => {
  const response = await post(createApp(), '/bill/stats', { headers: { token: 'alice' } });
  assert.deepEqual(
    response.json<{ data: { userName: string }[] }>().data.map(({ userName }) => userName),
    ['alice'],
  );
  const workbook = await post(createApp(), '/bill/excel', { headers: { token: 'alice' } });
  const [sheet] = await readXlsxFile(workbook.rawPayload);
  assert.deepEqual(
    sheet?.data.slice(1).map((cells) => cells[2]),
    ['alice'],
  );
});

for (const url of ['/bill/stats', '/bill/excel']) {
  test(`${url}: a missing, empty, unknown or ambiguous token is 401, before anything else is checked`, async () => {
    const app = createApp();
    const missing = await app.inject({ method: 'POST', url, headers: { 'content-type': 'text/plain' }, payload: 'x'.repeat(100_000) });
    assertRefused(missing, 401, /is required: send it in the header "token"/);
    assertRefused(await post(app, url, { headers: { token: '' } }), 401, /is required/);
    assertRefused(await post(app, url, { headers: { token: 'wrong' } }), 401, /^invalid billing token/);
    assertRefused(await post(app, url, { headers: { token: ['admin', 'alice'] as unknown as string } }), 401, /two different tokens/);
    assertRefused(await post(app, url, { headers: { token: '', authorization: 'Bearer admin' } }), 401, /is required/);
    assert.equal((await post(app, url, { headers: { token: ['admin', 'admin'] as unknown as string } })).statusCode, 200);
  });

  test(`${url}: a token directory that does not answer is 503, never 401`, async () => {
    assertRefused(await post(createApp({ authenticate: () => Promise.resolve('unavailable') }), url), 503, /cannot be checked/);
    assertRefused(await post(createApp({ authenticate: () => Promise.reject(new Error('down')) }), url), 503, /cannot be checked/);
    const hanging = createApp({ authenticate: () => new Promise(() => {}), limits: { authenticateMsMax: 5 } });
    assertRefused(await post(hanging, url), 503, /cannot be checked/);
  });

  test(`${url}: Content-Type must be application/json`, async () => {
    const app = createApp();
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'application/jsonx',
      'application/json; charset=utf-16',
      'junk',
    ]) {
      assertRefused(await post(app, url, { headers: { 'content-type': type } }), 415, /Content-Type/);
    }
    assertRefused(await app.inject({ method: 'POST', url, headers: { token: 'admin' } }), 415, 'Content-Type must be application/json');
    assertRefused(await post(app, url, { headers: { 'content-encoding': 'gzip' } }), 415, /not be compressed/);
    assert.equal((await post(app, url, { headers: { 'content-type': 'Application/JSON; Charset="UTF-8"' } })).statusCode, 200);
  });

  test(`${url}: a body that is not a JSON object, or is too large, is refused`, async () => {
    const app = createApp();
    for (const payload of ['', '{', '{"type":3,}', Buffer.from([0x7b, 0xff, 0x7d])]) {
      assertRefused(await post(app, url, { payload }), 400, 'the body is not valid JSON');
    }
    assertRefused(await post(app, url, { payload: '[]' }), 400, 'the body must be a JSON object');
    assertRefused(await post(app, url, { payload: `{"x":"${'y'.repeat(20_000)}"}` }), 413, 'the body must not be larger than 16384 bytes');
  });

  test(`${url}: every wrong field is named, and the errors are JSON`, async () => {
    const wrong = await post(createApp(), url, { payload: JSON.stringify({ type: 9, startTime: 'yesterday', endTime: 1.7e12 }) });
    assertRefused(
      wrong,
      400,
      'type must be one of 1 (minute), 2 (hour), 3 (day), 4 (week), 5 (month); startTime must be an integer of Unix seconds; ' +
        'endTime must be in Unix seconds, not milliseconds',
    );
    assert.equal(wrong.headers['content-disposition'], undefined);
    const long = { type: 1, startTime, endTime: startTime + 8 * 86_400 };
    assertRefused(await post(createApp(), url, { payload: JSON.stringify(long) }), 400, /7 days apart, the limit for type 1 \(minute\)/);
  });

  test(`${url}: more records than allowed is 400 and a failing store is 503, both before the answer begins`, async () => {
    assertRefused(await post(createApp({ rowsMax: 1 }), url), 400, /more than 1 records/);
    const failing = await post(createApp({ store: { queryStatistics: () => Promise.reject(new Error('secret detail')) } }), url);
    assertRefused(failing, 503, 'the statistics are not available at the moment; retry');
    assert.equal(failing.headers['retry-after'], '1');
    const broken: Answers = { timeZone: 'UTC', open: () => Promise.reject(new Error('secret detail')) };
    assertRefused(await post(createApp({ answers: broken }), url), 500, 'internal error');
  });

  test(`${url}: a store that never answers is 503 after the limit, and its slot is free again`, async () => {
    let queries = 0;
    const memory = createMemoryStatisticsStore(calls);
    const store: StatisticsStore = {
      queryStatistics: (query) => {
        queries += 1;
        return queries === 1 ? new Promise(() => {}) : memory.queryStatistics(query);
      },
    };
    const app = createApp({ store, limits: { queryMsMax: 20, answersMax: 1 } });
    assertRefused(await post(app, url), 503, /took too long/);
    assert.equal((await post(app, url)).statusCode, 200);
  });

  test(`${url}: a thousand concurrent requests wait for each other, and all are answered`, async () => {
    const app = createApp({ limits: { answersMax: 2 } });
    const count = url === '/bill/stats' ? 1000 : 50;
    const answers = await Promise.all(Array.from({ length: count }, () => post(app, url)));
    assert.ok(answers.every((answer) => answer.statusCode === 200));
    // No request times out before the line is full: the two that have a slot are answered when the store answers.
    const { promise: down, reject } = Promise.withResolvers<never>();
    const full = createApp({ store: { queryStatistics: () => down }, limits: { answersMax: 1, waitingMax: 1 } });
    const refusals = [post(full, url), post(full, url), post(full, url)];
    assertRefused(await Promise.race(refusals), 503, /too many/);
    reject(new Error('down'));
    for (const answer of await Promise.all(refusals)) assert.equal(answer.statusCode, 503);
  });
}

test('an unknown path is 404, and a known path names its methods, whatever the body', async () => {
  const app = createApp();
  assertRefused(await post(app, '/bill/other'), 404, /unknown path/);
  assertRefused(await post(app, '/bill/stats/'), 404, /unknown path/);
  const odd = { headers: { 'content-type': 'text/csv' }, payload: 'x' };
  assertRefused(await app.inject({ method: 'PUT', url: '/nowhere', ...odd }), 404, /unknown path/);
  for (const method of ['GET', 'PUT', 'DELETE', 'OPTIONS', 'PATCH'] as const) {
    const response = await app.inject({ method, url: '/bill/excel?x=1', ...odd });
    assertRefused(response, 405, `/bill/excel does not accept ${method}; use POST`);
    assert.equal(response.headers['allow'], 'POST');
  }
  assertRefused(await app.inject({ method: 'POST', url: '/health' }), 405, '/health does not accept POST; use GET, HEAD');
  assertRefused(await app.inject({ method: 'GET', url: '/%ff' }), 400, 'the path is malformed');
});

test('/health needs no token and reports the reasons in the format of the gateway', async () => {
  const check = compileSchema('Health');
  for (const url of ['/health', '/health/ready']) {
    // Only /health says what runs.
    const end = url === '/health' ? `,"version":"${release.version}"}` : '}';
    const well = await createApp().inject({ url });
    assert.deepEqual([well.statusCode, well.body], [200, `{"live":true,"ready":true${end}`]);
    assert.ok(check(well.json()));
    assert.equal(well.headers['cache-control'], 'no-store');
    assert.equal((await createApp().inject({ method: 'HEAD', url })).statusCode, 200);
    const ill = await createApp({ health: () => Promise.resolve(['store: does not answer']) }).inject({ url });
    assert.deepEqual([ill.statusCode, ill.body], [503, `{"live":true,"ready":false,"reasons":["store: does not answer"]${end}`]);
    assert.ok(check(ill.json()));
    for (const health of [() => Promise.reject(new Error('secret detail')), () => new Promise<never>(() => {})]) {
      const unknown = await createApp({ health, limits: { healthMsMax: 5 } }).inject({ url });
      assert.deepEqual([unknown.statusCode, unknown.body], [503, `{"live":true,"ready":false,"reasons":["the health check failed"]${end}`]);
    }
  }
});

test('a process whose store hangs is live', async () => {
  const app = createApp({ health: () => new Promise(() => {}), limits: { healthMsMax: 60_000 } });
  const alive = await app.inject({ url: '/health/live' });
  assert.deepEqual([alive.statusCode, alive.body], [200, '{"live":true}']);
  assert.ok(compileSchema('Liveness')(alive.json()));
  assertRefused(await app.inject({ method: 'POST', url: '/health/live' }), 405, '/health/live does not accept POST; use GET, HEAD');
});

test('concurrent health probes share one query to the store, and the next probe queries again', async () => {
  let queries = 0;
  const app = createApp({
    health: async () => {
      queries += 1;
      await new Promise((resolve) => setImmediate(resolve));
      return [];
    },
  });
  await app.ready();
  const answers = await Promise.all(Array.from({ length: 100 }, () => app.inject({ url: '/health' })));
  assert.ok(answers.every((answer) => answer.statusCode === 200));
  assert.ok(queries < 10, `${queries}`);
  const before = queries;
  await app.inject({ url: '/health/ready' });
  assert.equal(queries, before + 1);
});

test('the workbook has the contract’s type, a name by dates and granularity, and the same records', async () => {
  const response = await post(createApp(), '/bill/excel');
  assert.equal(response.statusCode, 200);
  assert.equal(response.headers['content-type'], 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet');
  assert.equal(response.headers['content-disposition'], 'attachment; filename="bill_20260127_20260129_day.xlsx"');
  const [sheet] = await readXlsxFile(response.rawPayload);
  const stats = (await post(createApp(), '/bill/stats')).json<{ data: Record<string, unknown>[] }>();
  assert.deepEqual(
    sheet?.data.slice(1),
    stats.data.map((record) => Object.values(record)),
  );
});

function manyRows(count: number): StatisticsStore {
  const row = fakeRow({ callCount: 1, amountNanoUsd: 1n });
  return { queryStatistics: () => Promise.resolve(Array.from({ length: count }, () => row)) };
}

test('a large answer is streamed and is the same JSON', async () => {
  for (const count of [1000, 1001, 20_000]) {
    const response = await post(createApp({ store: manyRows(count) }), '/bill/stats');
    assert.equal(response.json<{ data: unknown[] }>().data.length, count);
    assert.equal(response.body.match(/"totalAmount":0\.000000001}/g)?.length, count);
  }
});

async function withServer(app: FastifyInstance, use: (port: number) => Promise<void>): Promise<void> {
  try {
    await app.listen({ port: 0, host: '127.0.0.1' });
    await use((app.server.address() as AddressInfo).port);
  } finally {
    await app.close();
  }
}

function rawPost(url: string): string {
  const text = JSON.stringify(body);
  return `POST ${url} HTTP/1.1\r\nHost: monitor\r\ntoken: admin\r\nContent-Type: application/json\r\nContent-Length: ${text.length}\r\n\r\n${text}`;
}

for (const url of ['/bill/stats', '/bill/excel']) {
  test(`${url}: a client that stops reading occupies its slot until it disconnects or times out, and the next one is served`, async () => {
    for (const disconnects of url === '/bill/stats' ? [true, false] : [true]) {
      let queries = 0;
      const store: StatisticsStore = { queryStatistics: (query) => manyRows((queries += 1) === 1 ? 200_000 : 1).queryStatistics(query) };
      const app = createApp({ store, limits: { answersMax: 1, idleMsMax: 50_000 } });
      await withServer(app, async (port) => {
        const connected = once(app.server, 'connection');
        const stalled = connect(port, '127.0.0.1');
        stalled.on('error', () => {
          // A connection that the server closes may look like a reset from this side.
        });
        stalled.write(rawPost(url));
        await once(stalled, 'readable');
        stalled.pause();
        const second = post(app, url);
        assert.equal(queries, 1);
        const [held] = (await connected) as [Socket];
        assert.equal(held.timeout, 50_000);
        // The time-out comes only now, so that a stalled machine ends no other request.
        if (disconnects) stalled.destroy();
        else held.setTimeout(1);
        assert.equal((await second).statusCode, 200);
        assert.equal(queries, 2);
        stalled.destroy();
      });
    }
  });
}

test('an answer that takes too long to send is interrupted, and never looks complete', async () => {
  const app = createApp({ store: manyRows(1_000_000), limits: { answerMsMax: 30 } });
  await withServer(app, async (port) => {
    const socket = connect(port, '127.0.0.1');
    socket.write(rawPost('/bill/stats'));
    let received = '';
    socket.setEncoding('latin1').on('data', (text: string) => (received += text.slice(-64)));
    // The server resets the connection or closes it; the client must see no end of the chunked body either way.
    await new Promise((resolve) => socket.once('close', resolve).once('error', resolve));
    assert.doesNotMatch(received.slice(-64), /0\r\n\r\n$|]}/);
  });
});

test('a request whose body was read before a slow query is still answered', async () => {
  const memory = createMemoryStatisticsStore(calls);
  const store: StatisticsStore = {
    queryStatistics: async (query) => {
      await new Promise((resolve) => setTimeout(resolve, 10));
      return await memory.queryStatistics(query);
    },
  };
  await withServer(createApp({ store }), async (port) => {
    const socket = connect(port, '127.0.0.1');
    socket.write(rawPost('/bill/stats'));
    await once(socket, 'readable');
    assert.match(String(socket.read()), /^HTTP\/1\.1 200 OK/);
    socket.destroy();
  });
});

test('two different token headers on the wire are 401, and bytes that are not HTTP are answered in the envelope', async () => {
  await withServer(createApp(), async (port) => {
    const assertAnswer = async (bytes: string, expected: RegExp): Promise<void> => {
      const socket = connect(port, '127.0.0.1');
      socket.write(bytes);
      let answer = '';
      // The answer may arrive in pieces, and a kept-alive connection has no end.
      for await (const piece of socket) if (expected.test((answer += String(piece)))) break;
      assert.match(answer, expected);
    };
    const ambiguous = rawPost('/bill/stats').replace('token: admin', 'token: admin\r\nToken: alice');
    await assertAnswer(ambiguous, /^HTTP\/1\.1 401 .*two different/s);
    await assertAnswer('nonsense\r\n\r\n', /^HTTP\/1\.1 400 .*{"code":400,"message":"bad request","data":null}$/s);
    const large = rawPost('/bill/stats').replace('token: admin', `token: ${'x'.repeat(40_000)}`);
    await assertAnswer(large, /^HTTP\/1\.1 431 .*{"code":431,"message":".*","data":null}$/s);
  });
});

test('a client that disconnects before its answer is not logged as a failure', async () => {
  const logged: unknown[] = [];
  const logger = { ...silentLogger, error: (...parts: unknown[]) => void logged.push(parts) };
  let begin = (): void => undefined;
  const started = new Promise<void>((resolve) => (begin = resolve));
  const store: StatisticsStore = { queryStatistics: () => (begin(), new Promise(() => {})) };
  const app = createApp({ logger, store });
  let end = (): void => undefined;
  const refused = new Promise<void>((resolve) => (end = resolve));
  app.addHook('onError', async () => end());
  await withServer(app, async (port) => {
    const socket = connect(port, '127.0.0.1');
    socket.write(rawPost('/bill/stats'));
    await started;
    socket.destroy();
    await refused;
  });
  assert.deepEqual(logged, []);
});

test('no refusal and no log line contains a token', async () => {
  const logged: unknown[] = [];
  const logger = { ...silentLogger, error: (...parts: unknown[]) => void logged.push(parts) };
  const app = createApp({ logger, store: { queryStatistics: () => Promise.reject(new Error('down')) } });
  const refused = await post(app, '/bill/stats', { headers: { token: 'canary-token' } });
  const failed = await post(app, '/bill/stats');
  assert.equal(failed.statusCode, 503);
  assert.equal(logged.length, 1);
  assert.doesNotMatch(refused.body + failed.body + JSON.stringify(logged), /canary|admin/);
});

test('closing lets running answers finish, refuses further requests in the envelope, and ends with the last answer', async () => {
  let answerQuery = (): void => undefined;
  let begin = (): void => undefined;
  const started = new Promise<void>((resolve) => (begin = resolve));
  let queries = 0;
  const store: StatisticsStore = {
    queryStatistics: (query) => {
      queries += 1;
      if (queries === 1) return manyRows(50_000).queryStatistics(query);
      begin();
      return new Promise((resolve) => (answerQuery = () => resolve(manyRows(1).queryStatistics(query))));
    },
  };
  const app = createApp({ store });
  await app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = app.server.address() as AddressInfo;
  const [streaming, waiting] = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')];
  const received = { streaming: '', waiting: '' };
  streaming.setEncoding('latin1').write(rawPost('/bill/stats'));
  await once(streaming, 'readable');
  waiting.setEncoding('latin1').on('data', (text: string) => (received.waiting += text));
  waiting.write(rawPost('/bill/stats'));
  await started;

  let closed = false;
  const closing = closeGracefully(app, 60_000).then(() => (closed = true));
  const repeated = once(app.server, 'request');
  streaming.write(rawPost('/bill/stats'));
  await repeated;
  streaming.on('data', (text: string) => (received.streaming += text));
  await once(streaming, 'end');
  const [, whole = '', refusal = ''] = received.streaming.split('HTTP/1.1 ');
  assert.match(whole, /^200 /);
  assert.ok(whole.endsWith(']}\r\n0\r\n\r\n'));
  assert.match(refusal, /^503 .*connection: close.*{"code":503,"message":"the monitor is shutting down[^"]*","data":null}$/is);
  assert.equal(queries, 2);

  assert.equal(closed, false);
  const answered = once(waiting, 'end');
  answerQuery();
  await closing;
  await answered;
  assert.match(received.waiting, /^HTTP\/1\.1 200 .*connection: close.*"callCount":1/is);
});

test('closing does not wait for an idle connection', async () => {
  const app = createApp({ store: manyRows(20_000) });
  await app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = app.server.address() as AddressInfo;
  const idle = connect(port, '127.0.0.1');
  idle.write(rawPost('/bill/stats'));
  await once(idle, 'readable');
  const closing = closeGracefully(app, 60_000);
  idle.resume();
  await closing;
});

test('closing interrupts an unread answer after the grace period', async () => {
  const app = createApp({ store: manyRows(200_000) });
  await app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = app.server.address() as AddressInfo;
  const stalled = connect(port, '127.0.0.1');
  stalled.on('error', () => {
    // A connection that the server closes may look like a reset from this side.
  });
  stalled.write(rawPost('/bill/stats'));
  await once(stalled, 'readable');
  await closeGracefully(app, 20);
  stalled.destroy();
});
