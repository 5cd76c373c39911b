import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { CallRecord } from './call-records.ts';
import { readSettings } from './settings.ts';
import type { SimulatorState } from './simulator-state.ts';
import { controlVideos } from './videos/control-videos.ts';

const bodyBytesMax = 1_048_576;

type Reply = { readonly status: number; readonly body?: unknown };

/**
 * The server by which tests and auditors read records and change the simulator's behaviour: GET /health, GET /calls
 * (filters `vendor`, `tag`, `ending`, `after`, `limit`), GET /calls/{id}, DELETE /calls, GET /videos, POST
 * /videos/{id}, GET and POST /settings, POST /reset. It has no credentials, so it must listen on loopback only.
 */
export function createControlServer(state: SimulatorState): Server {
  // Occasional requests use one connection, and a busy client may pause for some seconds.
  return createServer({ keepAliveTimeout: 120_000 }, (request, response) => {
    readText(request)
      .then((text) => send(response, answer(state, request, text)))
      .catch((error: unknown) => send(response, { status: 400, body: { error: error instanceof Error ? error.message : String(error) } }));
  });
}

function answer(state: SimulatorState, request: IncomingMessage, text: string): Reply {
  const url = new URL(request.url ?? '/', 'http://simulator');
  const id = /^\/calls\/(\d{1,15})$/.exec(url.pathname)?.[1];
  if (id !== undefined && request.method === 'GET') {
    const call = state.records.get(Number(id));
    return call === undefined ? { status: 404, body: { error: `there is no call ${id}` } } : { status: 200, body: call };
  }
  const videos = controlVideos(state, request.method ?? '', url, text);
  if (videos !== undefined) return videos;
  switch (`${request.method} ${url.pathname}`) {
    case 'GET /health':
      return { status: 200, body: { status: 'ok' } };
    case 'GET /calls':
      return { status: 200, body: selectCalls(state.records.list(), url.searchParams) };
    case 'DELETE /calls':
      state.records.clear();
      return { status: 204 };
    case 'GET /settings':
      return { status: 200, body: describeSettings(state) };
    case 'POST /settings':
      applySettings(state, text);
      return { status: 200, body: describeSettings(state) };
    case 'POST /reset':
      state.reset();
      return { status: 204 };
    default:
      return { status: 404, body: { error: `there is no ${request.method} ${url.pathname}` } };
  }
}

function applySettings(state: SimulatorState, text: string): void {
  const settings = readSettings(JSON.parse(text));
  if (settings.pace !== undefined) state.pace = { ...state.pace, ...settings.pace };
  if (settings.video !== undefined) state.videoScript = settings.video;
  if (settings.faults !== undefined) state.faults = settings.faults;
}

function describeSettings(state: SimulatorState): unknown {
  const faults = state.faults.map(({ fault, vendor, timesLeft, every }) => ({
    fault: [fault.name, ...Object.entries(fault.parameters).map(([key, value]) => `${key}=${value}`)].join(';'),
    ...(vendor !== undefined && { vendor }),
    times: timesLeft ?? null,
    every,
  }));
  return { seed: state.seed, pace: state.pace, video: state.videoScript, faults };
}

function selectCalls(calls: readonly CallRecord[], query: URLSearchParams): readonly CallRecord[] {
  const after = Number(query.get('after') ?? 0);
  const limit = Number(query.get('limit') ?? Number.MAX_SAFE_INTEGER);
  const wanted = ['vendor', 'tag', 'ending'] as const;
  return calls
    .filter((call) => call.id > after && wanted.every((member) => !query.has(member) || call[member] === query.get(member)))
    .slice(0, limit);
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > bodyBytesMax) throw new Error(`the body is larger than the limit of ${bodyBytesMax} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function send(response: ServerResponse, reply: Reply): void {
  if (reply.body === undefined) {
    response.writeHead(reply.status).end();
    return;
  }
  response.writeHead(reply.status, { 'content-type': 'application/json' }).end(JSON.stringify(reply.body));
}
