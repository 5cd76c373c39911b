import type { Operations } from './operations.ts';
import { ApiProblem, type ProblemBody } from './problem.ts';
import { routes } from './routes.ts';

export type OperationId = keyof Operations;
export type Reply<Id extends OperationId> = Operations[Id]['reply'];
export type Query<Id extends OperationId> = Operations[Id]['query'];
export type Body<Id extends OperationId> = Operations[Id]['body'];

type Part<Name extends string, Value> = {} extends Value
  ? { readonly [Key in Name]?: Value }
  : undefined extends Value
    ? { readonly [Key in Name]?: undefined }
    : { readonly [Key in Name]: Value };

/** What a request needs. `version` goes into `If-Match`, and `repeatKey` into `Idempotency-Key`. */
export type Input<Id extends OperationId> = Part<'params', Operations[Id]['params']> &
  Part<'query', Query<Id>> &
  Part<'body', Body<Id>> & { readonly version?: string | undefined; readonly repeatKey?: string; readonly signal?: AbortSignal };

/** An input without its types. */
type AnyInput = {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
  readonly version?: string | undefined;
  readonly repeatKey?: string;
  readonly signal?: AbortSignal;
};

export const apiPath = '/api/v1';
const requestMsMax = 35_000;

/** Method and address of a request, for the request itself and for the curl line that does the same. */
export function addressOf<Id extends OperationId>(id: Id, input: Input<Id>): { readonly method: string; readonly path: string } {
  const [method = '', route = ''] = routes[id].split(' ', 2);
  const { params = {}, query = {} } = input as AnyInput;
  const path = route.replaceAll(/\{(\w+)\}/g, (_all, name: string) => encodeURIComponent(params[name] ?? ''));
  const text = encodeQuery(query);
  return { method, path: text === '' ? path : `${path}?${text}` };
}

/** Lists become repeated parameters; what is undefined is left out. */
export function encodeQuery(query: Readonly<Record<string, unknown>>): string {
  const words = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === null) continue;
    for (const one of Array.isArray(value) ? (value as readonly unknown[]) : [value]) words.append(name, String(one));
  }
  return words.toString();
}

/**
 * Runs an operation of the admin API.
 * @returns the body of the answer, and its ETag for a change of the same object
 * @throws ApiProblem for a refusal, and for a server that does not answer
 */
export async function runOperation<Id extends OperationId>(
  id: Id,
  input: Input<Id>,
): Promise<{ readonly body: Reply<Id>; readonly version: string | undefined }> {
  const { method, path } = addressOf(id, input);
  const { body, version, repeatKey, signal } = input as AnyInput;
  const deadline = AbortSignal.timeout(requestMsMax);
  const headers = {
    accept: 'application/json',
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...(version === undefined ? {} : { 'if-match': version }),
    ...(method === 'POST' && { 'idempotency-key': repeatKey ?? crypto.randomUUID() }),
  };
  let response: Response;
  try {
    response = await fetch(path, {
      method,
      headers,
      signal: signal === undefined ? deadline : AbortSignal.any([signal, deadline]),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  } catch (error) {
    if (signal?.aborted === true) throw error;
    throw ApiProblem.unreachable(error);
  }
  if (!response.ok) throw new ApiProblem(await readProblem(response), response.headers);
  const answer: unknown = response.status === 204 ? undefined : await response.json();
  return { body: answer as Reply<Id>, version: response.headers.get('etag') ?? undefined };
}

/** The body of an answer alone. */
export async function ask<Id extends OperationId>(id: Id, input: Input<Id>): Promise<Reply<Id>> {
  return (await runOperation(id, input)).body;
}

/** What an answer that is a refusal says. */
export async function readProblem(response: Response): Promise<ProblemBody> {
  const isProblem = response.headers.get('content-type')?.includes('json') === true;
  const body: unknown = isProblem ? await response.json().catch(() => undefined) : undefined;
  if (typeof body === 'object' && body !== null && 'code' in body) return body as ProblemBody;
  return {
    status: response.status,
    code: 'unknown_answer',
    title: 'The answer cannot be read.',
    detail: `Something between this page and the console answered with status ${response.status}.`,
    request_id: response.headers.get('x-request-id') ?? '',
    retryable: response.status >= 500,
  };
}
