import { randomBytes } from 'node:crypto';
import type { IncomingMessage, Server } from 'node:http';

import { parseRecord } from '../../read-json.ts';
import { replyJson } from '../reply-json.ts';
import { createWholeServer } from '../whole-request.ts';
import { issuePodToken, logIn, renew } from './vault-logins.ts';
import { createVaultState, denied, errors, type KnownToken, type Reply, type VaultState } from './vault-state.ts';

export type RunningVault = {
  readonly url: string;
  readonly state: VaultState;
  /** Writes a new version of a secret: `secret/weir/openai`. */
  readonly write: (path: string, data: Readonly<Record<string, unknown>>) => void;
  /** Issues a token. */
  readonly addToken: (token: Partial<KnownToken> & { readonly name?: string }) => string;
  /** Issues a token of a pod's service account. */
  readonly addPodToken: (claims?: Parameters<typeof issuePodToken>[1]) => string;
  /** Revokes every token. */
  readonly revokeAll: () => void;
};

/** A Vault with KV version 2 at `secret/`, tokens, and the logins of Kubernetes and of app roles. */
export async function startVault(nowMs: () => number, open: (server: Server) => Promise<string>): Promise<RunningVault> {
  const state = createVaultState();
  const server = createWholeServer((request, response, body) => {
    const path = decodeURIComponent((request.url ?? '').replace(/^\/v1\//, ''));
    const reply = answer(state, nowMs(), request, path, body);
    state.requests.push({ method: request.method ?? '', path, status: reply.status });
    replyJson(response, reply.status, reply.body);
  });
  const url = await open(server);
  return {
    url,
    state,
    write: (path, data) => {
      const [mount = '', ...rest] = path.split('/');
      const engine = state.engines.getOrInsertComputed(mount, () => new Map());
      engine.getOrInsertComputed(rest.join('/'), () => []).push({ data });
    },
    addToken: ({ name = `hvs.${randomBytes(18).toString('base64url')}`, ...token }) => {
      state.tokens.set(name, { reads: state.loginReads, isRenewable: true, namespace: state.namespace, ...token });
      return name;
    },
    addPodToken: (claims) => issuePodToken(state, claims),
    revokeAll: () => state.tokens.clear(),
  };
}

function answer(state: VaultState, nowMs: number, { method, headers }: IncomingMessage, path: string, body: Buffer): Reply {
  if (state.failingStatus > 0) return errors(state.failingStatus, 'the simulated failure');
  if (state.isSealed) return errors(503, 'Vault is sealed');
  const namespace = String(headers['x-vault-namespace'] ?? '').replace(/^\/+|\/+$/g, '');
  const mount = /^auth\/(.+)\/login$/.exec(path)?.[1];
  const login = namespace === state.namespace && mount !== undefined ? state.mounts.get(mount) : undefined;
  if (login !== undefined)
    return method === 'POST' ? logIn(state, nowMs, login, parseRecord(body) ?? {}) : errors(405, 'unsupported operation');
  const token = headers['x-vault-token'];
  // Every path needs a token except those of logins, and a login is known in its own namespace only.
  if (typeof token !== 'string') return denied();
  const known = useToken(state, nowMs, token);
  if (known === undefined) return errors(403, '2 errors occurred:\n\t* permission denied\n\t* invalid token\n\n');
  if (namespace !== known.namespace) return denied();
  if (path === 'auth/token/renew-self' && method === 'POST') return renew(state, nowMs, token, known);
  return method === 'GET' ? read(state, nowMs, known, path) : errors(405, 'unsupported operation');
}

/** The token, if it has not ended. Each request counts as a use. */
function useToken({ tokens }: VaultState, nowMs: number, token: string): KnownToken | undefined {
  const known = tokens.get(token);
  if (known === undefined || (known.expiresAtMs !== undefined && known.expiresAtMs <= nowMs)) return undefined;
  if (known.usesLeft !== undefined) {
    known.usesLeft -= 1;
    if (known.usesLeft === 0) tokens.delete(token);
  }
  return known;
}

function read({ engines }: VaultState, nowMs: number, { reads }: KnownToken, path: string): Reply {
  const isAllowed = reads.some((allowed) => (allowed.endsWith('*') ? path.startsWith(allowed.slice(0, -1)) : path === allowed));
  if (!isAllowed) return denied();
  const mount = [...engines.keys()].find((name) => path.startsWith(`${name}/`));
  if (mount === undefined) return errors(404, `no handler for route "${path}". route entry not found.`);
  const rest = path.slice(mount.length + 1);
  if (!rest.startsWith('data/')) return errors(404, 'Invalid path for a versioned K/V secrets engine.');
  const versions = engines.get(mount)?.get(rest.slice('data/'.length));
  const newest = versions?.at(-1);
  if (versions === undefined || newest === undefined) return errors(404);
  const isDeleted = newest.deletedAtMs !== undefined && newest.deletedAtMs <= nowMs;
  const metadata = {
    created_time: new Date(0).toISOString(),
    deletion_time: newest.deletedAtMs === undefined ? '' : new Date(newest.deletedAtMs).toISOString(),
    destroyed: newest.isDestroyed === true,
    version: versions.length,
  };
  if (isDeleted || newest.isDestroyed === true) return { status: 404, body: { data: { data: null, metadata } } };
  return { status: 200, body: { request_id: randomBytes(8).toString('hex'), lease_duration: 0, data: { data: newest.data, metadata } } };
}
