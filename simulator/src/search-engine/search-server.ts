import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { applyFault } from '../apply-fault.ts';
import { parseFault, takeFault, type Fault } from '../faults.ts';
import { isRecord } from '../read-json.ts';
import type { JsonRecord } from '../simulated-vendor.ts';
import { VendorError } from '../simulated-vendor.ts';
import type { SimulatorState } from '../simulator-state.ts';
import { readPromptSteering } from '../steering.ts';
import { toJsonReply, type WireReply } from '../wire-reply.ts';
import { writeReply } from '../write-reply.ts';
import { allDocuments } from './all-documents.ts';
import { createRanker } from './rank-documents.ts';
import type { SearchCall, SearchFormat, SearchReply } from './search-format.ts';
import { searchFormats } from './search-formats.ts';
import { addressOf, servePage, siteOf } from './serve-page.ts';

const bodyBytesMax = 1_048_576;
const snippetCharacters = 160;

/** Made by the first search: it counts the words of all pages. */
let rank: ReturnType<typeof createRanker> | undefined;

/**
 * The simulated web: five search services, each in its own format under its own prefix, and the pages that they find,
 * each at its own host under `.localhost`. Faults are those of the vendors, as `vendor: search`, or in the query:
 * `[[simulator fault=status;status=429]]`. It does not listen yet.
 */
export function createSearchServer(state: SimulatorState): Server {
  const server = createServer({ keepAliveTimeout: 120_000 }, (request, response) => {
    readBody(request)
      .then((body) => answer(state, server, request, response, body))
      .catch(() => response.destroy());
  });
  server.on('clientError', (_error, socket) => socket.destroy());
  return server;
}

async function answer(
  state: SimulatorState,
  server: Server,
  request: IncomingMessage,
  response: ServerResponse,
  body: JsonRecord,
): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://simulator');
  const { port } = server.address() as AddressInfo;
  const site = siteOf(request);
  if (site !== undefined) return servePage(site, url.pathname, response, port);
  const format = searchFormats.find(({ prefix }) => url.pathname.startsWith(`${prefix}/`));
  if (format === undefined) return void response.writeHead(404).end();
  const path = url.pathname.slice(format.prefix.length);
  const call: SearchCall = { method: request.method ?? 'GET', path, query: url.searchParams, headers: request.headers, body };
  const reply = search(state, format, call, port);
  const fault = chooseFault(state, call);
  const wire = toJsonReply(reply.status, reply.body);
  const idle = { onHeaders: () => {}, onProgress: () => {}, onEnd: () => {} };
  await writeReply(response, fault === undefined ? wire : strike(wire, fault, format, call), state.pace, idle);
}

function search(state: SimulatorState, format: SearchFormat, call: SearchCall, port: number): SearchReply {
  if (call.method !== format.method || call.path !== format.path) return { status: 404, body: format.error(404, 'Not found') };
  const credential = format.credentialOf(call) ?? '';
  if (format.needsKey && (credential === '' || state.apiKeys?.has(credential) === false)) return format.unauthorized;
  const asked = format.read(call);
  if ('status' in asked) return asked;
  rank ??= createRanker(allDocuments);
  const found = rank({ ...asked.query, text: asked.query.text.replace(/\[\[simulator [^\]]*\]\]/g, ' ') }).slice(0, asked.resultsMax);
  const described = found.map((hit) => ({ ...hit, url: addressOf(hit.document, port), snippet: snippetOf(hit.document.text) }));
  return { status: 200, body: format.write(call, described) };
}

function snippetOf(text: string): string {
  return `Simulated result: ${text.replace(/\s+/g, ' ').slice(0, snippetCharacters)}…`;
}

function chooseFault(state: SimulatorState, { query, body }: SearchCall): Fault | undefined {
  const text = [query.get('q'), body['q'], body['query']].find((value) => typeof value === 'string') ?? '';
  const { fault } = readPromptSteering(String(text));
  return fault === undefined ? takeFault(state.faults, 'search') : parseFault(fault);
}

function strike(wire: WireReply, fault: Fault, format: SearchFormat, call: SearchCall): WireReply {
  const vendor = {
    errorBody: format.error,
    refuseLongPrompt: () => new VendorError(400, format.error(400, 'The query is too long.'), 'The query is too long.'),
  };
  const request = { method: call.method, path: call.path, query: call.query, headers: {}, body: call.body };
  return applyFault(wire, fault, { vendor, requestId: 'simulated', request, credential: format.credentialOf(call) ?? '' });
}

/** The JSON object of a body, or an empty one. */
async function readBody(request: IncomingMessage): Promise<JsonRecord> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > bodyBytesMax) throw new Error(`the body is larger than the limit of ${bodyBytesMax} bytes`);
    chunks.push(chunk);
  }
  if (bytes === 0) return {};
  const value: unknown = JSON.parse(Buffer.concat(chunks).toString());
  return isRecord(value) ? value : {};
}
