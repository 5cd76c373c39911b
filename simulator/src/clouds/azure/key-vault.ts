import type { Server } from 'node:http';

import { replyJson } from '../reply-json.ts';
import { createWholeServer } from '../whole-request.ts';
import type { AzureTokens } from './azure-tokens.ts';

/** The secrets of a simulated vault, which tests change while it runs. */
export type KeyVaultState = {
  readonly secrets: Map<string, { readonly value: string; readonly isDisabled?: boolean }>;
  /** Names that callers may not read. */
  readonly withoutRole: Set<string>;
  /** Whether the firewall of the vault refuses everybody. */
  isClosed: boolean;
  failingStatus: number;
  readonly requests: { readonly name: string; readonly status: number }[];
};

export const createKeyVaultState = (): KeyVaultState => ({
  secrets: new Map(),
  withoutRole: new Set(),
  isClosed: false,
  failingStatus: 0,
  requests: [],
});

const audience = 'https://vault.azure.net';

type Reply = { readonly status: number; readonly body: object };
function refuse(status: number, code: string, message: string, inner?: string): Reply {
  return { status, body: { error: { code, message, ...(inner !== undefined && { innererror: { code: inner } }) } } };
}

/** Azure Key Vault, "Get Secret". */
export function createKeyVault(state: KeyVaultState, tokens: AzureTokens): Server {
  return createWholeServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://vault');
    const name = /^\/secrets\/([A-Za-z0-9-]+)(?:\/[0-9a-f]{32})?$/.exec(pathname)?.[1];
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? '';
    const answer = (): Reply => {
      if (state.failingStatus > 0) return refuse(state.failingStatus, 'ServiceUnavailable', 'simulated');
      if (tokens.judge(token, [audience]) !== 'accepted')
        return refuse(401, 'Unauthorized', 'AKV10022: Invalid audience, or the token is missing, expired or revoked.');
      if (searchParams.get('api-version') === null) return refuse(400, 'BadParameter', 'api-version must be specified');
      if (request.method !== 'GET' || name === undefined) return refuse(404, 'NotFound', 'no such operation');
      return getSecret(state, name);
    };
    const reply = answer();
    state.requests.push({ name: name ?? '', status: reply.status });
    const challenge = { 'www-authenticate': `Bearer authorization="https://login.microsoftonline.com/tenant", resource="${audience}"` };
    replyJson(response, reply.status, reply.body, reply.status === 401 ? challenge : {});
  });
}

function getSecret(state: KeyVaultState, name: string): Reply {
  if (state.isClosed)
    return refuse(403, 'Forbidden', 'Client address is not authorized and caller is not a trusted service.', 'ForbiddenByFirewall');
  if (state.withoutRole.has(name))
    return refuse(403, 'Forbidden', 'Caller is not authorized to perform action on resource.', 'ForbiddenByRbac');
  const secret = state.secrets.get(name);
  if (secret === undefined) return refuse(404, 'SecretNotFound', `A secret with (name/id) ${name} was not found in this key vault.`);
  if (secret.isDisabled === true) return refuse(403, 'Forbidden', 'Operation get is not allowed on a disabled secret.', 'SecretDisabled');
  return {
    status: 200,
    body: { value: secret.value, id: `https://acme-vault.vault.azure.net/secrets/${name}/0`, attributes: { enabled: true } },
  };
}
