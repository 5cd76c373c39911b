import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { Server } from 'node:http';

import type { SimulatorState } from '../../simulator-state.ts';
import { type ClaudePlatformState, createClaudePlatform } from './claude-platform.ts';
import { createGoogleTokens, type GoogleTokens } from './google-tokens.ts';
import { createGoogleIdentityServer, type GoogleIdentityState } from './identity-server.ts';
import { createStorageServer, type StorageState } from './storage-server.ts';
import { createSecretManager, createSecretManagerState, type SecretManagerState } from './secret-manager.ts';
import { createVertexServer, type VertexState } from './vertex-server.ts';

export type GoogleOptions = {
  /** How long tokens live. Default: 3600 seconds. */
  readonly tokenSeconds?: number;
  /** Models by location; `*` is every location. Default: some models everywhere. */
  readonly models?: Readonly<Record<string, readonly string[]>>;
};

/** Vertex AI with the identity services of Google Cloud, on loopback. */
export type RunningGoogle = {
  /** The address of Vertex AI, for every location. */
  readonly vertexUrl: string;
  /** The token server, the metadata server, the exchange and the impersonation. */
  readonly identityUrl: string;
  readonly project: string;
  readonly serviceAccount: string;
  /** Makes a key for the service account, and returns its file. */
  readonly createKeyFile: () => JsonDocument;
  readonly identity: GoogleIdentityState;
  readonly vertex: VertexState;
  /** Cloud Storage, with the objects of Vertex AI. */
  readonly storage: { readonly url: string; readonly state: StorageState };
  /** Claude, managed by Anthropic. */
  readonly platform: { readonly url: string; readonly state: ClaudePlatformState };
  /** Secret Manager. */
  readonly secretsUrl: string;
  readonly secrets: SecretManagerState;
  readonly tokens: GoogleTokens;
};

type JsonDocument = Readonly<Record<string, string>>;

const project = 'acme-models';
const serviceAccount = `weir@${project}.iam.gserviceaccount.com`;

const usualModels = {
  '*': ['gemini-2.5-flash', 'gemini-3-flash-preview', 'claude-sonnet-4-5@20250929', 'claude-opus-4-6', 'claude-sonnet-5'],
};

/** Opens the servers. @param open makes a server listen and returns its origin */
export async function startGoogle(
  state: SimulatorState,
  open: (server: Server) => Promise<string>,
  { tokenSeconds = 3600, models = usualModels }: GoogleOptions,
): Promise<RunningGoogle> {
  const tokens = createGoogleTokens(state.clock.nowMs, tokenSeconds);
  const identity: GoogleIdentityState = {
    accountKeys: new Map(),
    refreshTokens: new Map([['1//simulated-refresh-token', 'someone@example.com']]),
    subjectTokens: new Set(['simulated-subject-token']),
    audience: '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/pool/providers/provider',
    impersonable: new Set([serviceAccount]),
    machineAccount: serviceAccount,
    failingStatus: 0,
    throttledCalls: 0,
    requests: [],
  };
  const vertex: VertexState = {
    project,
    models: new Map(Object.entries(models).map(([location, names]) => [location, new Set(names)])),
    keys: new Set(['AIza-simulated-express-key']),
    withoutRole: new Set(),
    isDisabled: false,
    throttledCalls: 0,
    objects: new Map(),
    requests: [],
  };
  const identityUrl = await open(createGoogleIdentityServer(identity, tokens));
  const vertexUrl = await open(createVertexServer(state, vertex, tokens));
  const claude: ClaudePlatformState = { project, workspace: 'wrkspc_simulated', withoutRole: new Set(), isDisabled: false, requests: [] };
  const platform = { url: await open(createClaudePlatform(state, claude, tokens)), state: claude };
  const kept: StorageState = { objects: vertex.objects, requests: [] };
  const storage = { url: await open(createStorageServer(kept, tokens)), state: kept };
  const secrets = createSecretManagerState();
  const secretsUrl = await open(createSecretManager(secrets, tokens));
  const createKeyFile = (): JsonDocument => {
    const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const keyId = `key-${identity.accountKeys.size + 1}`;
    identity.accountKeys.set(keyId, { email: serviceAccount, publicKey: toPem(publicKey, 'spki') });
    return {
      type: 'service_account',
      project_id: project,
      private_key_id: keyId,
      private_key: toPem(privateKey, 'pkcs8'),
      client_email: serviceAccount,
      token_uri: `${identityUrl}/token`,
    };
  };
  return {
    vertexUrl,
    identityUrl,
    project,
    serviceAccount,
    createKeyFile,
    identity,
    vertex,
    storage,
    platform,
    secretsUrl,
    secrets,
    tokens,
  };
}

function toPem(key: KeyObject, type: 'spki' | 'pkcs8'): string {
  return key.export({ format: 'pem', type }).toString();
}
