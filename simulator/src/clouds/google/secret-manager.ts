import type { Server } from 'node:http';

import { replyJson } from '../reply-json.ts';
import { createWholeServer } from '../whole-request.ts';
import type { GoogleTokens } from './google-tokens.ts';

/** The secrets of a simulated project, which tests change while it runs. */
export type SecretManagerState = {
  /** Versions by resource name: `projects/acme-models/secrets/openai`. An absent one is destroyed. */
  readonly secrets: Map<string, (string | undefined)[]>;
  readonly withoutRole: Set<string>;
  isDisabled: boolean;
  failingStatus: number;
  readonly requests: { readonly name: string; readonly status: number }[];
};

export const createSecretManagerState = (): SecretManagerState => ({
  secrets: new Map(),
  withoutRole: new Set(),
  isDisabled: false,
  failingStatus: 0,
  requests: [],
});

type Reply = { readonly status: number; readonly body: object };
const refuse = (code: number, status: string, message: string): Reply => ({ status: code, body: { error: { code, message, status } } });

/** Google Secret Manager, `versions.access`. */
export function createSecretManager(state: SecretManagerState, tokens: GoogleTokens): Server {
  return createWholeServer((request, response) => {
    const bearer = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? '';
    const { pathname } = new URL(request.url ?? '/', 'http://google');
    const parsed = /^\/v1\/(projects\/[^/]+(?:\/locations\/[^/]+)?\/secrets\/[^/]+)\/versions\/([^/:]+):access$/.exec(pathname);
    const [, name = '', version = ''] = parsed ?? [];
    const answer = (): Reply => {
      if (state.failingStatus > 0) return refuse(state.failingStatus, 'UNAVAILABLE', 'simulated');
      if (request.method !== 'GET' || parsed === null) return refuse(404, 'NOT_FOUND', 'Not Found');
      if (tokens.find(bearer) === undefined) return refuse(401, 'UNAUTHENTICATED', 'Request had invalid authentication credentials.');
      return access(state, name, version);
    };
    const reply = answer();
    state.requests.push({ name, status: reply.status });
    replyJson(response, reply.status, reply.body);
  });
}

function access(state: SecretManagerState, name: string, version: string): Reply {
  if (state.isDisabled)
    return refuse(403, 'PERMISSION_DENIED', 'Secret Manager API has not been used in project 1 before or it is disabled.');
  if (state.withoutRole.has(name)) {
    const words = `Permission 'secretmanager.versions.access' denied for resource '${name}/versions/${version}' (or it may not exist).`;
    return refuse(403, 'PERMISSION_DENIED', words);
  }
  const versions = state.secrets.get(name);
  if (versions === undefined) return refuse(404, 'NOT_FOUND', `Secret [${name}] not found or has no versions.`);
  const number = version === 'latest' ? versions.length : Number(version);
  if (!(number >= 1 && number <= versions.length))
    return refuse(404, 'NOT_FOUND', `Secret Version [${name}/versions/${version}] not found.`);
  const value = versions[number - 1];
  if (value === undefined) return refuse(400, 'FAILED_PRECONDITION', `Secret Version [${name}/versions/${number}] is in DESTROYED state.`);
  return { status: 200, body: { name: `${name}/versions/${number}`, payload: { data: Buffer.from(value).toString('base64') } } };
}
