import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { DialectId } from '../../src/dialects/dialect-id.ts';
import { openLedger, type Ledger } from '../support/read-ledger.ts';
import { arrayInterface, type ChatInterface, chatInterfaces } from '../support/interfaces.ts';
import { openCall, type OpenCall, type ReceivedReply } from '../support/open-call.ts';
import { neverOverloaded, upstreamKey } from '../support/start-simulated-weir.ts';
import { serveWeir } from '../support/serve-weir.ts';
import { type RunningWeir, type ServedWeir, startWeir } from '../support/start-weir.ts';
import type { Mode } from './fault-bench.ts';

/** The upstream's reaction to a request whose body it has read. */
export type Script = (response: ServerResponse, body: string, request: IncomingMessage) => void;

/** A Weir whose only upstream is a server of the test, which answers in any dialect and in any way. */
export type ScriptedWeir<Weir extends ServedWeir = ServedWeir> = {
  readonly weir: Weir;
  readonly ledger: Ledger;
  /** Requests that have reached the upstream. */
  readonly reached: () => number;
  /** Opens a call of a client of one dialect to an upstream of another, which answers as scripted. */
  readonly open: (mode: Mode, to: DialectId, script: Script, further?: Further) => OpenCall;
  readonly send: (mode: Mode, to: DialectId, script: Script, further?: Further) => Promise<ReceivedReply>;
  readonly [Symbol.asyncDispose]: () => Promise<void>;
};

type Further = {
  readonly body?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly limitMs?: number;
  /** The whole body instead of a usual one, from the name of the model. */
  readonly text?: (model: string) => string;
};

const modelFor = (to: DialectId): string => `to-${to}`;

const vendorOf: Readonly<Record<DialectId, object>> = {
  'anthropic-messages': { vendor: 'anthropic' },
  'openai-responses': { vendor: 'openai', dialects: ['openai-responses'] },
  'openai-chat': { vendor: 'openai-compatible' },
  'gemini-generate-content': { vendor: 'gemini' },
};

const upstreamModel: Readonly<Record<DialectId, string>> = {
  'anthropic-messages': 'claude-sonnet-4-5',
  'openai-responses': 'gpt-4.1',
  'openai-chat': 'gpt-4.1',
  'gemini-generate-content': 'gemini-2.5-flash',
};

const dialects = Object.keys(vendorOf) as readonly DialectId[];

/** Every direction between two dialects, whole or streamed; array streams too. */
export function directions(stream: boolean): readonly { readonly mode: Mode; readonly to: DialectId; readonly title: string }[] {
  const apis: readonly ChatInterface[] = stream ? [...chatInterfaces, arrayInterface] : chatInterfaces;
  return apis.flatMap((api) =>
    dialects
      .filter((to) => to !== api.dialect)
      .map((to) => {
        const title = `${api.dialect}${api === arrayInterface ? ' (array)' : ''} to ${to}`;
        return { mode: { title, api, stream }, to, title };
      }),
  );
}

function readAll(request: IncomingMessage, done: (body: string) => void): void {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => done(Buffer.concat(chunks).toString()));
  request.on('error', () => {});
}

type Config = Readonly<Record<string, unknown>>;

/**
 * Starts the server and a Weir with it as upstream, in this process and without the monitor. @param config further
 * content of weir.yaml
 */
export function startScriptedWeir(config: Config = {}): Promise<ScriptedWeir> {
  return startWith((text) => serveWeir({ command: 'gateway', config: text }), config);
}

/** Runs the Weir in a process of its own. @param nodeArguments of Weir's own node */
export function startScriptedProgram(config: Config = {}, nodeArguments: readonly string[] = []): Promise<ScriptedWeir<RunningWeir>> {
  return startWith((text) => startWeir({ config: text, nodeArguments }), config);
}

async function startWith<Weir extends ServedWeir>(start: (config: string) => Promise<Weir>, config: Config): Promise<ScriptedWeir<Weir>> {
  const scripts = new Map<string, Script>();
  let reached = 0;
  let lastTag = 0;
  // Longer than a gateway keeps idle connections, so that it never uses one that is being closed.
  const server = createServer({ keepAliveTimeout: 120_000 }, (request, response) => {
    reached += 1;
    response.on('error', () => {});
    readAll(request, (body) => scripts.get(String(request.headers['x-script']))?.(response, body, request));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const upstreams = Object.fromEntries(
    dialects.map((to) => [to, { ...vendorOf[to], baseUrl, apiKey: upstreamKey, forwardHeaders: ['x-script'] }]),
  );
  const models = Object.fromEntries(dialects.map((to) => [modelFor(to), { targets: [{ upstream: to, model: upstreamModel[to] }] }]));
  const weir = await start(
    JSON.stringify({
      retries: { attemptsMax: 1, avoidFailing: false, holdOpeningMs: 60_000 },
      overload: neverOverloaded,
      ...config,
      upstreams,
      models,
    }),
  );
  const ledger = await openLedger(weir.dataDirectory);
  const open: ScriptedWeir['open'] = ({ api, stream }, to, script, further = {}) => {
    const tag = `script-${(lastTag += 1)}`;
    scripts.set(tag, script);
    const model = modelFor(to);
    const body = { ...api.body(model, 'Hello there', stream), ...further.body };
    return openCall(`${weir.gatewayUrl}${api.path(model, stream)}`, {
      headers: { authorization: `Bearer ${weir.apiKey}`, ...api.headers, 'x-script': tag, ...further.headers },
      body: further.text?.(model) ?? JSON.stringify(body),
      ...(further.limitMs === undefined ? {} : { limitMs: further.limitMs }),
    });
  };
  return {
    weir,
    ledger,
    reached: () => reached,
    open,
    send: (mode, to, script, further) => open(mode, to, script, further).done,
    [Symbol.asyncDispose]: async () => {
      await ledger.close();
      await weir[Symbol.asyncDispose]();
      server.closeAllConnections();
      server.close();
    },
  };
}

const sse = (type: string | undefined, data: unknown): string =>
  `${type === undefined ? '' : `event: ${type}\n`}data: ${JSON.stringify(data)}\n\n`;

/** How an upstream dialect writes a stream; the parts may be requested in any order. */
export type Speech = {
  readonly start: string;
  readonly text: (text: string) => string;
  readonly beginCall: (index: number, id: string, name: string) => string;
  readonly callArguments: (index: number, text: string) => string;
  readonly endCall: (index: number, id: string, name: string, text: string) => string;
  /** The finish reason, the usage (10 in, 20 out), and the end mark. */
  readonly finish: string;
  /** A whole reply with the same text. */
  readonly whole: (text: string) => object;
};

const chunk = (delta: object, finishReason: string | null = null): string =>
  sse(undefined, {
    id: 'c1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta, finish_reason: finishReason }],
  });

const chat: Speech = {
  start: chunk({ role: 'assistant', content: '' }),
  text: (text) => chunk({ content: text }),
  beginCall: (index, id, name) => chunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] }),
  callArguments: (index, text) => chunk({ tool_calls: [{ index, function: { arguments: text } }] }),
  endCall: () => '',
  finish: `${chunk({}, 'stop')}${sse(undefined, { id: 'c1', object: 'chat.completion.chunk', choices: [], usage: { prompt_tokens: 10, completion_tokens: 20, total_tokens: 30 } })}data: [DONE]\n\n`,
  whole: (text) => ({
    id: 'c1',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 10, completion_tokens: 20, total_tokens: 30 },
  }),
};

const block = (type: string, index: number, further: object): string => sse(type, { type, index, ...further });
const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm' };

const messages: Speech = {
  start:
    sse('message_start', {
      type: 'message_start',
      message: { ...message, content: [], stop_reason: null, stop_sequence: null, usage: { input_tokens: 10, output_tokens: 1 } },
    }) + block('content_block_start', 1000, { content_block: { type: 'text', text: '' } }),
  text: (text) => block('content_block_delta', 1000, { delta: { type: 'text_delta', text } }),
  beginCall: (index, id, name) => block('content_block_start', index, { content_block: { type: 'tool_use', id, name, input: {} } }),
  callArguments: (index, text) => block('content_block_delta', index, { delta: { type: 'input_json_delta', partial_json: text } }),
  endCall: (index) => block('content_block_stop', index, {}),
  finish:
    block('content_block_stop', 1000, {}) +
    sse('message_delta', { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 20 } }) +
    sse('message_stop', { type: 'message_stop' }),
  whole: (text) => ({
    ...message,
    content: [{ type: 'text', text }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 10, output_tokens: 20 },
  }),
};

const responseUsage = { input_tokens: 10, output_tokens: 20, total_tokens: 30 };
const respond = (type: string, further: object): string => sse(type, { type, sequence_number: 1, ...further });
const response = { id: 'resp_1', object: 'response', created_at: 1, model: 'm' };
const outputText = (text: string): object => ({
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text, annotations: [] }],
});
const callItem = (id: string, name: string, text: string): object => ({
  type: 'function_call',
  id: `fc_${id}`,
  call_id: id,
  name,
  arguments: text,
});

const responses: Speech = {
  start: respond('response.created', { response: { ...response, status: 'in_progress', output: [] } }),
  text: (text) => respond('response.output_text.delta', { output_index: 1000, content_index: 0, item_id: 'msg_1', delta: text }),
  beginCall: (index, id, name) => respond('response.output_item.added', { output_index: index, item: callItem(id, name, '') }),
  callArguments: (index, text) => respond('response.function_call_arguments.delta', { output_index: index, delta: text }),
  endCall: (index, id, name, text) => respond('response.output_item.done', { output_index: index, item: callItem(id, name, text) }),
  finish: respond('response.completed', { response: { ...response, status: 'completed', output: [], usage: responseUsage } }),
  whole: (text) => ({ ...response, status: 'completed', output: [outputText(text)], usage: responseUsage }),
};

const parts = (list: readonly object[], further: object = {}): string =>
  sse(undefined, { candidates: [{ content: { role: 'model', parts: list }, index: 0, ...further }], modelVersion: 'm', responseId: 'r1' });
const usageMetadata = { promptTokenCount: 10, candidatesTokenCount: 20, totalTokenCount: 30 };

const contents: Speech = {
  start: '',
  text: (text) => parts([{ text }]),
  beginCall: () => '',
  callArguments: () => '',
  endCall: (_index, id, name, text) =>
    `data: {"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"id":"${id}","name":"${name}","args":${text}}}]},"index":0}]}\n\n`,
  finish: sse(undefined, {
    candidates: [{ content: { role: 'model', parts: [{ text: '' }] }, finishReason: 'STOP', index: 0 }],
    usageMetadata,
    modelVersion: 'm',
  }),
  whole: (text) => ({
    candidates: [{ content: { role: 'model', parts: [{ text }] }, finishReason: 'STOP', index: 0 }],
    usageMetadata,
    modelVersion: 'm',
    responseId: 'r1',
  }),
};

export const speeches: Readonly<Record<DialectId, Speech>> = {
  'anthropic-messages': messages,
  'openai-responses': responses,
  'openai-chat': chat,
  'gemini-generate-content': contents,
};

/** Answers with a stream of this text. */
export const streams =
  (body: string | Buffer): Script =>
  (reply) => {
    reply.writeHead(200, { 'content-type': 'text/event-stream' });
    reply.end(body);
  };

/** Answers with a body of this type, whatever the request was. */
export const answers =
  (status: number, type: string, body: string | Buffer): Script =>
  (reply) => {
    reply.writeHead(status, { 'content-type': type });
    reply.end(body);
  };
