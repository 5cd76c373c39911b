import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';

import type { DialectId } from '../../src/dialects/dialect-id.ts';
import { coverPairs } from '../support/cover-pairs.ts';
import { call } from '../support/http.ts';
import { type ChatInterface, chatInterfaces } from '../support/interfaces.ts';
import { type OpenCall, openCall } from '../support/open-call.ts';
import { neverOverloaded, upstreamKey } from '../support/start-simulated-weir.ts';
import { serveWeir } from '../support/serve-weir.ts';
import type { ServedWeir } from '../support/start-weir.ts';
import { speeches } from './translated-bench.ts';

/** An upstream's error inside a stream, and the status line with the same meaning. */
type Failure = {
  readonly error: Readonly<Record<string, unknown>>;
  readonly status: number;
  /** Requests of one call with one target and two attempts. */
  readonly attempts: number;
  readonly health: 'healthy' | 'rejected' | 'rate-limited';
  /** Its code in a failed response. Absent: `server_error`. */
  readonly responseCode?: string;
};

const failures: readonly Failure[] = [
  {
    error: { type: 'invalid_request_error', message: 'words of the vendor' },
    status: 400,
    attempts: 1,
    health: 'healthy',
    responseCode: 'invalid_prompt',
  },
  {
    error: { code: 'tool_use_failed', message: 'words of the vendor' },
    status: 400,
    attempts: 1,
    health: 'healthy',
    responseCode: 'invalid_prompt',
  },
  {
    error: { code: 'content_filter', message: 'words of the vendor' },
    status: 400,
    attempts: 1,
    health: 'healthy',
    responseCode: 'invalid_prompt',
  },
  {
    error: { type: 'api_error', status_code: 400, message: 'words of the vendor' },
    status: 400,
    attempts: 1,
    health: 'healthy',
    responseCode: 'invalid_prompt',
  },
  {
    error: { code: 'invalid_api_key', type: 'authentication_error', message: 'no such key' },
    status: 401,
    attempts: 1,
    health: 'rejected',
  },
  { error: { code: 'insufficient_quota', message: 'words of the vendor' }, status: 429, attempts: 1, health: 'healthy' },
  {
    error: { code: 'rate_limit_exceeded', message: 'words of the vendor' },
    status: 429,
    attempts: 2,
    health: 'rate-limited',
    responseCode: 'rate_limit_exceeded',
  },
  { error: { code: 'server_error', message: 'words of the vendor' }, status: 500, attempts: 2, health: 'healthy' },
  { error: { type: 'overloaded_error', message: 'words of the vendor' }, status: 529, attempts: 2, health: 'healthy' },
];

const vendors: Readonly<Record<DialectId, object>> = {
  'anthropic-messages': { vendor: 'anthropic' },
  'openai-responses': { vendor: 'openai', dialects: ['openai-responses'] },
  'openai-chat': { vendor: 'openai-compatible' },
  'gemini-generate-content': { vendor: 'gemini' },
};
const upstreamDialects = Object.keys(vendors) as readonly DialectId[];

/** An error as an event of a stream, and as the body of an answer. */
const bodyOf = (to: DialectId, error: object): object => (to === 'anthropic-messages' ? { type: 'error', error } : { error });
function eventOf(to: DialectId, error: object): string {
  const data =
    to === 'openai-responses' ? { type: 'response.failed', sequence_number: 9, response: { status: 'failed', error } } : bodyOf(to, error);
  const event = { 'anthropic-messages': 'event: error\n', 'openai-responses': 'event: response.failed\n' }[to as string] ?? '';
  return `${event}data: ${JSON.stringify(data)}\n\n`;
}

const forms = ['opening', 'status', 'content'] as const;
type Form = (typeof forms)[number];

/** The kind of error that a client of each dialect reads in an error body or an error event. */
const kindsOf: Readonly<Record<DialectId, (error: any) => unknown>> = {
  'anthropic-messages': (body) => body?.error?.type,
  'openai-chat': (body) => [body?.error?.type, body?.error?.code],
  'openai-responses': (body) => [body?.error?.type, body?.error?.code],
  'gemini-generate-content': (body) => [body?.error?.code, body?.error?.status],
};

/** A3: each call has an upstream of its own, so that the health and the retry budget of others do not affect it. */
describe('an error inside a translated stream has the same effect as a status line', () => {
  let server: Server;
  let weir: ServedWeir;
  const requests = new Map<string, number>();
  /** Ends a reply of which the client has received a part. */
  const release = new Map<string, () => void>();
  const nameOf = (client: DialectId, to: DialectId, at: number, form: Form): string => `${client}.${to}.${at}.${form}`;

  before(async () => {
    server = createServer({ keepAliveTimeout: 120_000 }, (request, response) => {
      const name = /^\/([a-z.\d-]+)\//.exec(request.url ?? '')?.[1] ?? '';
      requests.set(name, (requests.get(name) ?? 0) + 1);
      const [, to, at, form] = name.split('.') as [DialectId, DialectId, string, Form];
      const { error, status } = failures[Number(at)] as Failure;
      request.resume().on('end', () => {
        if (form === 'status')
          return void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(bodyOf(to, error)));
        const { start, text } = speeches[to];
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        if (form !== 'content') return void response.end(start + eventOf(to, error));
        response.write(start + text('Hello '));
        release.set(name, () => response.end(eventOf(to, error)));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const names = chatInterfaces.flatMap(({ dialect }) =>
      upstreamDialects
        .filter((to) => to !== dialect)
        .flatMap((to) => failures.flatMap((_, at) => forms.map((form) => ({ to, name: nameOf(dialect, to, at, form) })))),
    );
    const upstreams = Object.fromEntries(
      names.map(({ to, name }) => [name.replaceAll('.', '_'), { ...vendors[to], baseUrl: `${baseUrl}/${name}`, apiKey: upstreamKey }]),
    );
    const models = Object.fromEntries(names.map(({ name }) => [name, { targets: [{ upstream: name.replaceAll('.', '_'), model: 'm' }] }]));
    const retries = { attemptsMax: 2, holdOpeningMs: 60_000 };
    weir = await serveWeir({ command: 'gateway', config: JSON.stringify({ retries, overload: neverOverloaded, upstreams, models }) });
  });
  after(async () => {
    await weir[Symbol.asyncDispose]();
    server.closeAllConnections();
    server.close();
  });

  const ask = (api: ChatInterface, model: string): OpenCall =>
    openCall(weir.gatewayUrl + api.path(model, true), {
      headers: { authorization: `Bearer ${weir.apiKey}`, ...api.headers },
      body: JSON.stringify(api.body(model, 'Hello', true)),
    });
  const healthOf = async (name: string): Promise<unknown> => {
    const { json } = await call(`${weir.gatewayUrl}/health`);
    const targets = json.targets as readonly { readonly upstream: string; readonly state: string }[];
    // It lists 200 targets, failing ones first.
    return targets.find(({ upstream }) => upstream === name.replaceAll('.', '_'))?.state ?? 'healthy';
  };

  const cases = chatInterfaces.flatMap((api) =>
    upstreamDialects.filter((other) => other !== api.dialect).flatMap((to) => failures.map((failure, at) => ({ api, to, failure, at }))),
  );
  // An error is read in the upstream's dialect and reported in the client's: each pair of the three is met.
  for (const { api, to, failure, at } of coverPairs(cases, (one) => [one.api.dialect, one.to, `${one.at}`])) {
    const { error, status, attempts, health, responseCode = 'server_error' } = failure;
    const what = String(error['code'] ?? error['status_code'] ?? error['type']);
    test(`${api.dialect} to ${to}: ${what}`, async () => {
      const [opening, asStatus, content] = forms.map((form) => nameOf(api.dialect, to, at, form)) as [string, string, string];
      const [told, expected] = await Promise.all([ask(api, opening).done, ask(api, asStatus).done]);
      assert.equal(told.status, expected.status, `${told.text}\n${expected.text}`);
      const kind = kindsOf[api.dialect];
      assert.deepEqual(kind(JSON.parse(told.text)), kind(JSON.parse(expected.text)), `${told.text}\n${expected.text}`);
      if (status === 400) assert.equal(told.status, 400, told.text);
      if (status === 400) assert.match(told.text, /words of the vendor/);
      assert.deepEqual([requests.get(opening), requests.get(asStatus)], [attempts, attempts], told.text);
      assert.deepEqual([await healthOf(opening), await healthOf(asStatus)], [health, health]);

      const open = ask(api, content);
      await open.until((text) => text.includes('Hello '));
      release.get(content)?.();
      const broken = await open.done;
      assert.equal(broken.status, 200);
      assert.match(broken.text, /Hello /);
      assert.match(broken.text, api.errorEvent);
      assert.doesNotMatch(broken.text, api.terminal);
      assert.equal(requests.get(content), 1, 'delivered content is not requested again');
      const events = broken.text.split('\n').filter((line) => line.startsWith('data: {'));
      const ends = events.slice(-2).map((line) => JSON.parse(line.slice('data: '.length)));
      // A stream of Responses ends with two events, of which the second has a closed list of codes.
      const isPair = api.dialect === 'openai-responses';
      assert.deepEqual(kind(ends.at(isPair ? 0 : 1)), kind(JSON.parse(expected.text)), broken.text);
      if (isPair) assert.equal(ends[1].response.error.code, responseCode);
      assert.equal(await healthOf(content), health);
    });
  }
});
