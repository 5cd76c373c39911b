import type { IncomingMessage, Server, ServerResponse } from 'node:http';

import { replyJson } from '../reply-json.ts';
import { createWholeServer } from '../whole-request.ts';
import type { AwsState } from './aws-state.ts';
import { forwardToMaker } from './forward-to-maker.ts';
import { verifySignature } from './verify-signature.ts';

const service = 'aws-external-anthropic';

/**
 * Claude Platform on AWS in one region: Anthropic's interface, behind signatures of AWS or a key. A request names its
 * workspace in a header.
 */
export function createClaudePlatform(state: AwsState, workspace: string): Server {
  return createWholeServer((request, response, body) => answer(state, workspace, request, response, body));
}

async function answer(state: AwsState, workspace: string, request: IncomingMessage, response: ServerResponse, body: Buffer): Promise<void> {
  const target = request.url ?? '/';
  const { method = '', headers } = request;
  state.saw({ target, headers, body });
  const refuse = (status: number, type: string, message: string): void =>
    replyJson(response, status, { type: 'error', error: { type, message } });
  const plain = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(',') : value]));
  const key = plain['x-api-key'] ?? /^Bearer (.+)$/.exec(plain['authorization'] ?? '')?.[1];
  if (key !== undefined && !state.isKnownKey(key)) return refuse(401, 'authentication_error', 'invalid x-api-key');
  const scope = { region: state.region, service };
  const refusal =
    key === undefined ? verifySignature({ method, target, headers: plain, body }, scope, state.findKeys, state.nowMs()) : undefined;
  // AWS answers before Anthropic does.
  if (refusal !== undefined)
    return replyJson(response, refusal.status, { message: refusal.message }, { 'x-amzn-errortype': `${refusal.type}:` });
  const fault = state.takeFault('status');
  if (fault !== undefined) return replyJson(response, fault.status, { message: 'Rate exceeded' }, { 'x-amzn-errortype': fault.type });
  if (plain['anthropic-workspace-id'] === undefined)
    return refuse(400, 'invalid_request_error', 'anthropic-workspace-id: header is required');
  if (plain['anthropic-workspace-id'] !== workspace)
    return refuse(400, 'invalid_request_error', 'anthropic-workspace-id: no such workspace in this region');
  await forwardToMaker(state, `${state.vendors.anthropic}${target}`, request, response, body);
}
