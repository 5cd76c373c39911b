import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, request as sendRequest, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';

import { serveWeir } from '../support/serve-weir.ts';
import type { ServedWeir } from '../support/start-weir.ts';

const answer = JSON.stringify({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'upstream-model',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hi', refusal: null }, logprobs: null, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
});

const common = '"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"upstream-model"';
const chunks = [
  `{${common},"choices":[{"index":0,"delta":{"role":"assistant","content":"hi"},"finish_reason":null}]}`,
  `{${common},"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`,
  `{${common},"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`,
];

/** Requests by the name of the user that they contain. */
const received = new Map<string, Buffer[]>();

async function readAll(request: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of request as AsyncIterable<Buffer>) pieces.push(piece);
  return Buffer.concat(pieces);
}

const userOf = (bytes: Buffer): string => /"user":"([^"]*)"/.exec(bytes.toString('latin1', 0, 200))?.[1] ?? '';

/** Answers some requests late, some with an error, and some before they were read. */
async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const isSecond = request.url?.startsWith('/second') === true;
  const early = request.headers['openai-beta'] === 'early' && !isSecond;
  if (early) {
    response.writeHead(503, { connection: 'close', 'content-length': '2' }).end('{}');
    return;
  }
  const bytes = await readAll(request);
  const user = userOf(bytes);
  received.set(user, [...(received.get(user) ?? []), bytes]);
  if (user.startsWith('retried') && !isSecond) {
    response.writeHead(503, { 'content-type': 'application/json' }).end('{"error":{"message":"later","type":"server_error"}}');
    return;
  }
  if (/"stream":true/.test(bytes.toString('latin1'))) {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const chunk of chunks) {
      response.write(`data: ${chunk}\n\n`);
      await setTimeout(5);
    }
    response.end('data: [DONE]\n\n');
    return;
  }
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': String(answer.length) }).end(answer);
}

/** Large bodies of many callers at once, each with its own bytes. Memory is used again while others are still sent. */
describe('large requests of many callers', () => {
  let upstream: Server;
  let weir: ServedWeir;
  before(async () => {
    upstream = createServer((request, response) => void serve(request, response).catch(() => response.destroy()));
    await new Promise<void>((resolve) => void upstream.listen(0, '127.0.0.1', resolve));
    const origin = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
    weir = await serveWeir({
      command: 'gateway',
      config: `upstreams:
  first: { vendor: openai-compatible, baseUrl: "${origin}/first/v1", apiKey: key }
  second: { vendor: openai-compatible, baseUrl: "${origin}/second/v1", apiKey: key }
models:
  client-model:
    targets: [{ upstream: first, model: upstream-model, priority: 1 }, { upstream: second, model: upstream-model, priority: 2 }]
    price: { input: "1", output: "1" }
`,
    });
  });
  after(async () => {
    await weir[Symbol.asyncDispose]();
    upstream.close();
  });

  const bodyOf = (model: string, user: string, text: string): string =>
    `{"model": "${model}", "user":"${user}", "messages":[{"role":"user","content":"${text}"}], "temperature":0.5}`;

  /** Sends a request in pieces, and disconnects after `leaveAfter` bytes. Resolves with the status; 0 if it left. */
  function call(user: string, text: string, leaveAfter = Infinity): Promise<number> {
    const bytes = Buffer.from(bodyOf('client-model', user, text));
    const { promise, resolve } = Promise.withResolvers<number>();
    const headers = {
      authorization: `Bearer ${weir.apiKey}`,
      'content-type': 'application/json',
      'content-length': String(bytes.length),
      ...(user.startsWith('early') && { 'openai-beta': 'early' }),
    };
    const request = sendRequest(`${weir.gatewayUrl}/v1/chat/completions`, { method: 'POST', headers, agent: false }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0));
    });
    request.on('error', () => resolve(0));
    if (leaveAfter < bytes.length) request.write(bytes.subarray(0, leaveAfter), () => request.destroy());
    else {
      request.write(bytes.subarray(0, 1000));
      setImmediate(() => request.end(bytes.subarray(1000)));
    }
    return promise;
  }

  test('each upstream gets the bytes of its own caller, after retries, early answers and clients that left', async () => {
    const sizes = [20_000, 40_000, 100_000, 700_000, 2_500_000];
    const kinds = ['plain', 'retried', 'early', 'left'];
    for (let round = 0; round < 3; round++) {
      const calls = sizes.flatMap((size) =>
        kinds.map((kind) => ({ kind, user: `${kind}-${size}-${round}`, text: randomBytes(size / 2).toString('hex') })),
      );
      const statuses = await Promise.all(
        calls.map(({ kind, user, text }) => call(user, text, kind === 'left' ? text.length / 2 : Infinity)),
      );
      for (const [index, { kind, user, text }] of calls.entries()) {
        if (kind === 'left') continue;
        assert.equal(statuses[index], 200, user);
        const expected = Buffer.from(bodyOf('upstream-model', user, text));
        const sent = received.get(user) ?? [];
        // The first target may be avoided after its failures.
        assert.ok(sent.length === 1 || (kind === 'retried' && sent.length === 2), `${user} was sent ${sent.length} times`);
        for (const bytes of sent) assert.ok(bytes.equals(expected), `${user} has other bytes`);
      }
      received.clear();
    }
  });

  for (const stream of [false, true])
    test(`a translated ${stream ? 'stream' : 'reply'} repeats large members of its request, and the conversation is stored`, async () => {
      const instructions = randomBytes(30_000).toString('hex');
      const parameters = { type: 'object', properties: { field: { type: 'string', description: randomBytes(20_000).toString('hex') } } };
      const tools = [{ type: 'function', name: 'look', strict: false, parameters }];
      const send = async (body: object): Promise<string> => {
        const response = await fetch(`${weir.gatewayUrl}/v1/responses`, {
          method: 'POST',
          headers: { authorization: `Bearer ${weir.apiKey}`, 'content-type': 'application/json' },
          body: JSON.stringify({ model: 'client-model', stream, ...body }),
        });
        const text = await response.text();
        assert.equal(response.status, 200, text);
        return text;
      };
      const last = (text: string): { readonly id: string; readonly instructions?: string; readonly tools?: unknown } => {
        if (!stream) return JSON.parse(text);
        const event = text.split('\n').findLast((line) => line.startsWith('data: {'));
        const { type, response } = JSON.parse(event?.slice('data: '.length) ?? '{}');
        assert.equal(type, 'response.completed');
        return response;
      };
      const question = randomBytes(25_000).toString('hex');
      const first = last(await send({ instructions, tools, input: question, user: `first-${stream}` }));
      assert.equal(first.instructions, instructions);
      assert.ok(JSON.stringify(first.tools).includes(parameters.properties.field.description));
      await send({ input: 'and?', previous_response_id: first.id, user: `second-${stream}` });
      const bytes = [...received.values()].flat().at(-1)?.toString() ?? '';
      assert.ok(bytes.includes(question), 'the stored conversation was sent again');
      received.clear();
    });
});
