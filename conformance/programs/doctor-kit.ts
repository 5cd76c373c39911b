import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { CheckName, DoctorReport, Verdict } from '../../src/main/doctor/finding.ts';
import { renderReport } from '../../src/main/doctor/render-report.ts';
import { runDoctor, type DoctorOptions } from '../../src/main/doctor/run-doctor.ts';
import { readEnvironment } from '../../src/main/environment.ts';
import { systemClock } from '../../src/platform/clock.ts';

/** The key of every upstream in these tests; no output may contain it. */
export const secret = 'sk-secret-of-the-operator-0123456789';

export type ChatBody = {
  readonly stream?: boolean;
  readonly messages?: unknown;
  readonly tools?: readonly unknown[];
  readonly response_format?: unknown;
  readonly max_tokens?: number;
};

export type ChatAnswer = {
  readonly text?: string;
  readonly call?: { readonly name: string; readonly arguments: string };
  readonly finish?: string;
};

const usage = { prompt_tokens: 12, completion_tokens: 3, total_tokens: 15 };

/** The answer of a correct small server to a chat request. */
export function answerOf(body: ChatBody): ChatAnswer {
  const last = Array.isArray(body.messages) ? (body.messages.at(-1) as { role?: unknown }) : {};
  if (body.tools !== undefined && last.role === 'user')
    return { call: { name: 'get_weather', arguments: '{"city":"Paris"}' }, finish: 'tool_calls' };
  if (body.response_format !== undefined) return { text: '{"colour":"green","wavelength_nm":530}' };
  return { text: 'pong 你好' };
}

function countOf(body: ChatBody): typeof usage {
  const prompt = Math.ceil(JSON.stringify(body.messages).length / 4);
  return { ...usage, prompt_tokens: prompt, total_tokens: prompt + 3 };
}

const common = { id: 'chatcmpl-1', created: 1_790_000_000, model: 'tiny' };

const callsOf = ({ call }: ChatAnswer) =>
  call === undefined ? {} : { tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: call }] };

export function wholeReply(body: ChatBody, answer: ChatAnswer = answerOf(body)): Record<string, unknown> {
  const message = { role: 'assistant', content: answer.text ?? null, ...callsOf(answer) };
  return {
    ...common,
    object: 'chat.completion',
    choices: [{ index: 0, message, finish_reason: answer.finish ?? 'stop' }],
    usage: countOf(body),
  };
}

/** The events of a stream, without their framing. */
export function streamEvents(body: ChatBody, answer: ChatAnswer = answerOf(body)): readonly string[] {
  const chunk = (delta: unknown, finish: string | null) => ({
    ...common,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
  return [
    JSON.stringify(chunk({ role: 'assistant', content: '' }, null)),
    JSON.stringify(chunk(answer.text === undefined ? callsOf(answer) : { content: answer.text }, null)),
    JSON.stringify(chunk({}, answer.finish ?? 'stop')),
    JSON.stringify({ ...common, object: 'chat.completion.chunk', choices: [], usage: countOf(body) }),
    '[DONE]',
  ];
}

export const sendJson = (response: ServerResponse, status: number, body: unknown): void => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
};

export const sendStream = (response: ServerResponse, events: readonly string[], type = 'text/event-stream'): void => {
  response.writeHead(200, { 'content-type': type }).end(events.map((data) => `data: ${data}\n\n`).join(''));
};

const badRequest = { error: { message: 'messages must be a list', type: 'invalid_request_error', param: 'messages', code: null } };

/** The reaction of a correct server to a chat request. */
function serveChat(body: ChatBody, response: ServerResponse): void {
  if (!Array.isArray(body.messages)) sendJson(response, 400, badRequest);
  else if (body.stream === true) sendStream(response, streamEvents(body));
  else sendJson(response, 200, wholeReply(body));
}

export type OddServer = {
  readonly url: string;
  readonly requests: () => readonly string[];
  readonly [Symbol.asyncDispose]: () => Promise<void>;
};

async function open(server: Server, scheme: string, requests: readonly string[]): Promise<OddServer> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests: () => requests,
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** A chat server that is correct except for `odd`, which returns true if it has answered itself. */
export async function startOddServer(
  odd: (request: IncomingMessage, body: ChatBody | undefined, response: ServerResponse) => boolean = () => false,
): Promise<OddServer> {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      requests.push(`${request.method ?? ''} ${request.url ?? ''}`);
      const text = Buffer.concat(pieces).toString();
      const body = text === '' ? undefined : (JSON.parse(text) as ChatBody);
      if (odd(request, body, response)) return;
      if (body === undefined) sendJson(response, 200, { object: 'list', data: [{ id: 'tiny', object: 'model' }] });
      else serveChat(body, response);
    });
  });
  return await open(server, 'http', requests);
}

/** The configuration of one compatible upstream, called `odd`. */
export const configOf = (baseUrl: string, more = ''): string =>
  `upstreams:\n  odd:\n    vendor: openai-compatible\n    baseUrl: ${baseUrl}\n    apiKey: "\${ODD_KEY}"\n${more}`;

/** Runs the doctor in this process with a configuration. */
export async function examine(
  config: string | undefined,
  changes: Partial<DoctorOptions> = {},
  variables: Readonly<Record<string, string>> = {},
): Promise<DoctorReport> {
  const directory = mkdtempSync(join(tmpdir(), 'weir-doctor-'));
  const path = join(directory, 'weir.yaml');
  if (config !== undefined) writeFileSync(path, config, { mode: 0o600 });
  const environment = readEnvironment({
    WEIR_PORT: '0',
    WEIR_DATA_DIR: join(directory, 'data'),
    ...(config === undefined ? {} : { WEIR_CONFIG: path }),
    ODD_KEY: secret,
    ...variables,
  });
  return await runDoctor({
    environment,
    clock: systemClock,
    signal: new AbortController().signal,
    upstreams: [],
    checks: [],
    model: undefined,
    mayCall: true,
    timeoutMs: 60_000,
    onStep: () => {},
    ...changes,
  });
}

/** A report as people see it. */
export const show = (report: DoctorReport): string => renderReport(report, { width: 120, colour: false, unicode: true });

/** The part of the report about one check, or about one step before it, of the only upstream. */
export function told(
  report: DoctorReport,
  about: CheckName | 'DNS' | 'TCP' | 'TLS' | 'HTTP' | 'credential',
): { readonly verdict: Verdict; readonly words: string } {
  const [upstream] = report.upstreams;
  const cell = upstream?.matrix[0]?.results.find(({ check }) => check === about);
  const finding = cell ?? upstream?.findings.find(({ subject }) => subject === about);
  if (finding === undefined) assert.fail(`the report has nothing about ${about}:\n${show(report)}`);
  return { verdict: finding.verdict, words: `${finding.says ?? ''} -> ${finding.advice ?? ''}` };
}

/**
 * A port that has no listener while this process lives, because an outgoing connection uses it. A port that was only
 * free would soon be used by another program. @param localPort one that was in use
 */
export async function unusedPort(localPort?: number): Promise<number> {
  const server = createTcpServer((accepted) => void accepted.on('error', () => {}).unref()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const held = connect({ port, host: '127.0.0.1', ...(localPort === undefined ? {} : { localPort }) });
  await Promise.all([once(held, 'connect'), once(server, 'connection')]);
  server.close();
  held.on('error', () => {}).unref();
  return held.localPort ?? assert.fail('the connection has no port');
}
