import type { IncomingMessage, Server, ServerResponse } from 'node:http';

import { answerCall } from '../../answer-call.ts';
import type { SimulatorState } from '../../simulator-state.ts';
import { anthropic } from '../../vendors/anthropic/anthropic.ts';
import { replyJson } from '../reply-json.ts';
import { type CloudRequest, createWholeServer } from '../whole-request.ts';
import type { GoogleTokens } from './google-tokens.ts';

/** The state of the service, which tests change while it runs. */
export type ClaudePlatformState = {
  readonly project: string;
  readonly workspace: string;
  /** Identities without the right to call models. */
  readonly withoutRole: Set<string>;
  isDisabled: boolean;
  readonly requests: CloudRequest[];
};

type Refusal = readonly [code: number, status: string, message: string];

const invoked = /^\/v1\/projects\/([^/]+)\/locations\/global\/workspaces\/([^/]+)\/invoke(\/v1\/.*)$/;

function judge(state: ClaudePlatformState, tokens: GoogleTokens, url: string, headers: IncomingMessage['headers']): Refusal | undefined {
  const [, project, workspace] = invoked.exec(url) ?? [];
  if (project === undefined) return [404, 'NOT_FOUND', 'Not Found'];
  const identity = tokens.find((headers.authorization ?? '').replace(/^Bearer /, ''));
  if (identity === undefined) return [401, 'UNAUTHENTICATED', 'Request had invalid authentication credentials.'];
  if (state.isDisabled)
    return [403, 'PERMISSION_DENIED', `Claude API has not been used in project ${state.project} before or it is disabled.`];
  if (project !== state.project || state.withoutRole.has(identity))
    return [
      403,
      'PERMISSION_DENIED',
      `Permission 'claude.workspaces.invoke' denied on resource '//claude.googleapis.com/projects/${project}'.`,
    ];
  return workspace === state.workspace ? undefined : [404, 'NOT_FOUND', `Workspace ${workspace} was not found.`];
}

/** Claude on Google Cloud, managed by Anthropic: Anthropic's interface below the path of a workspace. */
export function createClaudePlatform(shared: SimulatorState, state: ClaudePlatformState, tokens: GoogleTokens): Server {
  const simulated: SimulatorState = { ...shared, apiKeys: undefined };
  return createWholeServer((request: IncomingMessage, response: ServerResponse, body: Buffer) => {
    const { method = 'GET', url = '' } = request;
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    const refused = judge(state, tokens, url, request.headers);
    state.requests.push({ method, url, headers, body, status: refused?.[0] ?? 200 });
    if (refused !== undefined) {
      const [code, status, message] = refused;
      return replyJson(response, code, { error: { code, message, status } });
    }
    request.url = invoked.exec(url)?.[3] ?? '/';
    request.headers['x-api-key'] = 'simulated';
    return void answerCall(simulated, { ...anthropic, authenticate: () => {} }, request, response, body);
  });
}
