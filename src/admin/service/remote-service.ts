import { randomUUID } from 'node:crypto';

import type { Operation } from '../operation.ts';
import { AdminProblem, type FieldProblem } from '../problem.ts';
import { type ProblemCode, problemCodes } from '../problem-codes.ts';
import { apiPath } from '../server/api-path.ts';
import type { AdminService, ServiceInput } from './admin-service.ts';
import { rawInput } from './local-service.ts';

export type RemoteServiceParts = {
  /** The address of the console: `https://console.example`. */
  readonly address: URL;
  /** An admin token; undefined for operations that anybody may run. */
  readonly token?: string;
  /** The time for a whole answer, until a streamed one begins, and between two of its pieces. */
  readonly timeoutMs?: number;
  /** Ends requests that are under way. */
  readonly signal?: AbortSignal;
  /** The client that sends requests, as `fetch` does. */
  readonly send: (url: URL, init: RequestInit) => Promise<Response>;
};

const timeoutMsDefault = 60_000;
const problemBytesMax = 1024 * 1024;
/** The time for a request with a file. */
const uploadMsMax = 300_000;

/** Sends operations to a console. Answers and refusals are those of the local service. */
export function createRemoteService(parts: RemoteServiceParts): AdminService {
  const { address, token, timeoutMs = timeoutMsDefault, send } = parts;
  async function request(
    operation: Operation<never>,
    input: ServiceInput<unknown, unknown, unknown>,
    timeout = AbortSignal.timeout(input.file === undefined ? timeoutMs : uploadMsMax),
  ): Promise<Response> {
    const headers: Record<string, string> = {};
    if (token !== undefined) headers['authorization'] = `Bearer ${token}`;
    // A command changes what is there now, as the local one does.
    if (operation.subject !== undefined || operation.versionOf !== undefined) headers['if-match'] = '*';
    if (operation.method === 'POST') headers['idempotency-key'] = randomUUID();
    const signal = parts.signal === undefined ? timeout : AbortSignal.any([timeout, parts.signal]);
    const sent = await bodyOf(input);
    if (sent !== undefined) headers['content-type'] = sent.type;
    const response = await send(urlOf(address, operation, input), {
      method: operation.method,
      headers,
      signal,
      redirect: 'error',
      ...(sent !== undefined && { body: sent.bytes }),
    }).catch((cause: unknown) => {
      throw new AdminProblem('unavailable', `${address.origin} does not answer: ${reasonOf(cause)}.`, { cause });
    });
    if (!response.ok) throw await readProblem(response, address);
    return response;
  }
  return {
    call: async (operation, input = {}) => {
      const response = await request(operation, input);
      const version = /^"(\d+)"$/.exec(response.headers.get('etag') ?? '')?.[1];
      const text = await response.text();
      // The console answers by the same schema, or a newer one with further members.
      return { body: (text === '' ? undefined : JSON.parse(text)) as never, ...(version !== undefined && { version: Number(version) }) };
    },
    stream: async function* stream(operation, input = {}) {
      const ending = new AbortController();
      const late = (): void => ending.abort(new DOMException(`No answer within ${timeoutMs} ms.`, 'TimeoutError'));
      // A file may take longer than an answer, as long as it arrives.
      let timer = setTimeout(late, timeoutMs);
      try {
        const { body } = await request(operation, input, ending.signal);
        for await (const piece of body ?? []) {
          clearTimeout(timer);
          yield piece;
          timer = setTimeout(late, timeoutMs);
        }
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

/** The body of a request and its type: JSON, or a form if it has a file. */
async function bodyOf({
  body,
  file,
}: ServiceInput<unknown, unknown, unknown>): Promise<
  { readonly type: string; readonly bytes: string | Uint8Array<ArrayBuffer> } | undefined
> {
  if (file === undefined) return body === undefined ? undefined : { type: 'application/json', bytes: JSON.stringify(body) };
  const form = new FormData();
  for (const [name, value] of Object.entries(body ?? {})) if (value !== undefined) form.append(name, String(value));
  form.append('file', file.content, file.name);
  // Written here, because a client may know only the forms of its own library.
  const encoded = new Response(form);
  return { type: encoded.headers.get('content-type') ?? '', bytes: new Uint8Array(await encoded.arrayBuffer()) };
}

function urlOf(address: URL, { path }: Operation<never>, input: ServiceInput<unknown, unknown, unknown>): URL {
  const { params, query } = rawInput(input);
  const filled = path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => encodeURIComponent(params[name] ?? ''));
  const url = new URL(`${address.pathname.replace(/\/$/, '')}${apiPath}${filled}`, address);
  for (const [name, values] of Object.entries(query)) for (const value of values) url.searchParams.append(name, value);
  return url;
}

function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return 'the connection failed';
  return cause.cause instanceof Error ? cause.cause.message : cause.message;
}

/** The refusal of the console as the error that the operation would have thrown here. */
async function readProblem(response: Response, address: URL): Promise<AdminProblem> {
  const text = (await response.text()).slice(0, problemBytesMax);
  const parsed = parseObject(text);
  const { code, detail, errors } = parsed;
  if (typeof code !== 'string' || !(code in problemCodes) || typeof detail !== 'string')
    return new AdminProblem('unavailable', `${address.origin} answered with ${response.status}; it is not a console of this version.`);
  return new AdminProblem(code as ProblemCode, detail, { errors: Array.isArray(errors) ? (errors as FieldProblem[]) : [] });
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}
