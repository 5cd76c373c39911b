import { randomBytes } from 'node:crypto';
import type { IncomingMessage, Server } from 'node:http';

import { replyJson } from '../reply-json.ts';
import { createWholeServer } from '../whole-request.ts';

/** A token that the simulated Vault knows. */
type KnownToken = {
  /** The paths of its policy: `secret/data/weir/*`. */
  readonly reads: readonly string[];
  /** Absent: it does not end. */
  expiresAtMs?: number;
  readonly isRenewable: boolean;
};

type SecretVersion = { readonly data: Readonly<Record<string, unknown>>; deletedAtMs?: number; isDestroyed?: boolean };

/** The memory of a simulated Vault, which tests change while it runs. */
type VaultState = {
  isSealed: boolean;
  /** Every request is answered with this status. 0: it works. */
  failingStatus: number;
  /** The namespace in which everything is; empty: the root. */
  namespace: string;
  readonly tokens: Map<string, KnownToken>;
  /** Tokens of service accounts that the role `weir` of the login method `kubernetes` accepts. */
  readonly serviceAccounts: Set<string>;
  /** Secret ids of the app role, by role id. */
  readonly appRoles: Map<string, Set<string>>;
  /** What tokens of a login may read. */
  loginReads: readonly string[];
  /** How long tokens of a login live. */
  tokenSeconds: number;
  /** KV engines of version 2: versions by path, by mount. */
  readonly engines: Map<string, Map<string, SecretVersion[]>>;
  readonly requests: { readonly method: string; readonly path: string; readonly status: number }[];
};

export type RunningVault = {
  readonly url: string;
  readonly state: VaultState;
  /** Writes a new version of a secret: `secret/weir/openai`. */
  readonly write: (path: string, data: Readonly<Record<string, unknown>>) => void;
  /** Issues a token. */
  readonly addToken: (token: Partial<KnownToken> & { readonly name?: string }) => string;
};

type Reply = { readonly status: number; readonly body: object };
const errors = (status: number, ...words: readonly string[]): Reply => ({ status, body: { errors: words } });
const denied = (): Reply => errors(403, '1 error occurred:\n\t* permission denied\n\n');

/** A Vault with KV version 2 at `secret/`, tokens, and the logins of Kubernetes and of app roles. */
export async function startVault(nowMs: () => number, open: (server: Server) => Promise<string>): Promise<RunningVault> {
  const state: VaultState = {
    isSealed: false,
    failingStatus: 0,
    namespace: '',
    tokens: new Map(),
    serviceAccounts: new Set(),
    appRoles: new Map(),
    loginReads: ['secret/data/weir/*'],
    tokenSeconds: 3600,
    engines: new Map([['secret', new Map<string, SecretVersion[]>()]]),
    requests: [],
  };
  const server = createWholeServer((request, response, body) => {
    const path = decodeURIComponent((request.url ?? '').replace(/^\/v1\//, ''));
    const reply = answer(state, nowMs, request, path, body);
    state.requests.push({ method: request.method ?? '', path, status: reply.status });
    replyJson(response, reply.status, reply.body);
  });
  const url = await open(server);
  return {
    url,
    state,
    write: (path, data) => {
      const [mount = '', ...rest] = path.split('/');
      const engine = state.engines.getOrInsertComputed(mount, () => new Map<string, SecretVersion[]>());
      engine.getOrInsertComputed(rest.join('/'), () => []).push({ data });
    },
    addToken: ({ name = `hvs.${randomBytes(18).toString('base64url')}`, reads = state.loginReads, isRenewable = true, expiresAtMs }) => {
      state.tokens.set(name, { reads, isRenewable, ...(expiresAtMs !== undefined && { expiresAtMs }) });
      return name;
    },
  };
}

function answer(state: VaultState, nowMs: () => number, { method, headers }: IncomingMessage, path: string, body: Buffer): Reply {
  if (state.failingStatus > 0) return errors(state.failingStatus, 'the simulated failure');
  if (state.isSealed) return errors(503, 'Vault is sealed');
  if ((headers['x-vault-namespace'] ?? '') !== state.namespace) return denied();
  const login = /^auth\/(kubernetes|approle)\/login$/.exec(path)?.[1];
  if (login !== undefined) return method === 'POST' ? logIn(state, nowMs, login, readJson(body)) : errors(405, 'unsupported operation');
  const token = headers['x-vault-token'];
  const known = typeof token === 'string' ? state.tokens.get(token) : undefined;
  if (typeof token !== 'string') return errors(400, 'missing client token');
  if (known === undefined || (known.expiresAtMs !== undefined && known.expiresAtMs <= nowMs()))
    return errors(403, '2 errors occurred:\n\t* permission denied\n\t* invalid token\n\n');
  if (path === 'auth/token/renew-self' && method === 'POST') return renew(state, nowMs, known);
  return method === 'GET' ? read(state, nowMs, known, path) : errors(405, 'unsupported operation');
}

function readJson(body: Buffer): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(body.toString()) as Readonly<Record<string, unknown>>;
  } catch {
    return {};
  }
}

function logIn(state: VaultState, nowMs: () => number, method: string, body: Readonly<Record<string, unknown>>): Reply {
  if (method === 'kubernetes') {
    if (body['role'] !== 'weir') return errors(400, `invalid role name "${String(body['role'])}"`);
    if (!state.serviceAccounts.has(String(body['jwt']))) return denied();
  } else if (state.appRoles.get(String(body['role_id']))?.has(String(body['secret_id'])) !== true)
    return errors(400, 'invalid role or secret ID');
  const token = `hvs.${randomBytes(18).toString('base64url')}`;
  state.tokens.set(token, { reads: state.loginReads, isRenewable: true, expiresAtMs: nowMs() + state.tokenSeconds * 1000 });
  const auth = { client_token: token, policies: ['default', 'weir'], lease_duration: state.tokenSeconds, renewable: true };
  return { status: 200, body: { auth } };
}

function renew(state: VaultState, nowMs: () => number, known: KnownToken): Reply {
  if (known.expiresAtMs === undefined) return { status: 200, body: { auth: { lease_duration: 0, renewable: false } } };
  if (!known.isRenewable) return errors(400, 'lease is not renewable');
  known.expiresAtMs = nowMs() + state.tokenSeconds * 1000;
  return { status: 200, body: { auth: { lease_duration: state.tokenSeconds, renewable: true } } };
}

function read(state: VaultState, nowMs: () => number, { reads }: KnownToken, path: string): Reply {
  const isAllowed = reads.some((allowed) => (allowed.endsWith('*') ? path.startsWith(allowed.slice(0, -1)) : path === allowed));
  if (!isAllowed) return denied();
  const mount = [...state.engines.keys()].find((name) => path.startsWith(`${name}/`));
  if (mount === undefined) return errors(404, `no handler for route "${path}". route entry not found.`);
  const rest = path.slice(mount.length + 1);
  if (!rest.startsWith('data/')) return errors(404, 'Invalid path for a versioned K/V secrets engine.');
  const versions = state.engines.get(mount)?.get(rest.slice('data/'.length));
  const newest = versions?.at(-1);
  if (versions === undefined || newest === undefined) return errors(404);
  const isDeleted = newest.deletedAtMs !== undefined && newest.deletedAtMs <= nowMs();
  const metadata = {
    created_time: new Date(0).toISOString(),
    deletion_time: newest.deletedAtMs === undefined ? '' : new Date(newest.deletedAtMs).toISOString(),
    destroyed: newest.isDestroyed === true,
    version: versions.length,
  };
  if (isDeleted || newest.isDestroyed === true) return { status: 404, body: { data: { data: null, metadata } } };
  return { status: 200, body: { request_id: randomBytes(8).toString('hex'), lease_duration: 0, data: { data: newest.data, metadata } } };
}
