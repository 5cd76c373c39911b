import { type IncomingMessage, type Server, type ServerResponse } from 'node:http';

import { createWholeServer } from '../whole-request.ts';
import type { JsonRecord } from '../../simulated-vendor.ts';
import type { AwsState } from './aws-state.ts';
import { answerConverse } from './converse/answer-converse.ts';
import { forwardToMaker } from './forward-to-maker.ts';
import { invokeClaude } from './invoke-claude.ts';
import { verifySignature } from './verify-signature.ts';

/** How the errors of a path are written: as AWS does, or as the maker whose interface it is. */
type ErrorForm = 'aws' | 'openai' | 'anthropic';

/** Interfaces of makers, and the simulated maker that answers. */
const makers: readonly { readonly prefix: string; readonly vendor: 'openai' | 'anthropic'; readonly path: string }[] = [
  { prefix: '/openai/v1/', vendor: 'openai', path: '/' },
  { prefix: '/anthropic/v1/', vendor: 'anthropic', path: '/v1/' },
];

/**
 * bedrock-runtime or bedrock-mantle of one region. It verifies signatures and keys, checks what Bedrock checks, and
 * lets the simulated makers answer.
 */
export function createBedrockServer(state: AwsState, service: 'bedrock' | 'bedrock-mantle'): Server {
  return createWholeServer((request, response, body) => answer(state, service, request, response, body));
}

async function answer(state: AwsState, service: string, request: IncomingMessage, response: ServerResponse, body: Buffer): Promise<void> {
  const target = request.url ?? '/';
  const maker = makers.find(({ prefix }) => target.startsWith(prefix));
  const fail = (status: number, type: string, message: string): void =>
    writeError(response, maker?.vendor ?? 'aws', { status, type, message });
  state.saw({ target, headers: request.headers, body });
  const refusal = authenticate(state, service, request, body);
  if (refusal !== undefined) return fail(refusal.status, refusal.type, refusal.message);
  const fault = state.takeFault('status');
  if (fault !== undefined) return fail(fault.status, fault.type, 'Too many requests, please wait before trying again.');
  if (maker !== undefined) {
    const url = `${state.vendors[maker.vendor]}${maker.path}${target.slice(maker.prefix.length)}`;
    return await forwardToMaker(state, url, request, response, body);
  }
  const native = /^\/model\/([^/]+)\/(invoke|invoke-with-response-stream|count-tokens|converse|converse-stream)$/.exec(target);
  if (native === null || service === 'bedrock-mantle' || request.method !== 'POST')
    return fail(404, 'UnknownOperationException', 'Unknown operation');
  const [, id = '', operation = ''] = native;
  const invocation = { model: decodeURIComponent(id), operation, request, response, body, fail };
  await (operation.startsWith('converse') ? answerConverse(state, invocation) : invokeClaude(state, invocation));
}

function authenticate(
  state: AwsState,
  service: string,
  { method = '', url = '', headers }: IncomingMessage,
  body: Buffer,
): ReturnType<typeof verifySignature> {
  const plain = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(',') : value]));
  const bearer =
    /^Bearer (.+)$/.exec(plain['authorization'] ?? '')?.[1] ?? (url.startsWith('/anthropic/') ? plain['x-api-key'] : undefined);
  if (bearer !== undefined) {
    if (state.isKnownKey(bearer)) return undefined;
    return { status: 403, type: 'AccessDeniedException', message: 'Authentication failed: Please make sure your API Key is valid.' };
  }
  return verifySignature({ method, target: url, headers: plain, body }, { region: state.region, service }, state.findKeys, state.nowMs());
}

function writeError(
  response: ServerResponse,
  form: ErrorForm,
  { status, type, message }: { readonly status: number; readonly type: string; readonly message: string },
): void {
  const makersType = status === 403 ? 'permission_error' : status === 429 ? 'rate_limit_error' : 'invalid_request_error';
  const bodies: Readonly<Record<ErrorForm, JsonRecord>> = {
    aws: { message },
    openai: { error: { message, type: makersType, code: null, param: null } },
    anthropic: { type: 'error', error: { type: makersType, message } },
  };
  response.writeHead(status, { 'content-type': 'application/json', 'x-amzn-errortype': `${type}:http://internal.amazon.com/coral/` });
  response.end(JSON.stringify(bodies[form]));
}
