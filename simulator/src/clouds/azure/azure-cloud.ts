import type { Server } from 'node:http';

import type { SimulatorState } from '../../simulator-state.ts';
import { createAzureTokens, type AzureTokens } from './azure-tokens.ts';
import { createIdentityServer, type IdentityState } from './identity-server.ts';
import { createKeyVault, createKeyVaultState, type KeyVaultState } from './key-vault.ts';
import { createResourceServer, type AzureDeployment, type ResourceState } from './resource-server.ts';

export type AzureOptions = {
  /** Keys of the resource. */
  readonly keys?: readonly string[];
  /** Deployments by name. Default: one for each of the usual models. */
  readonly deployments?: Readonly<Record<string, AzureDeployment>>;
  /** How long tokens live. Default: 3600 seconds. */
  readonly tokenSeconds?: number;
};

/** A resource of Azure OpenAI with its identity services, on loopback. */
export type RunningAzure = {
  /** The endpoint of the resource, without a path. */
  readonly endpoint: string;
  /** The login server, the metadata service and the endpoint of App Service. */
  readonly loginUrl: string;
  readonly metadataUrl: string;
  readonly identityEndpoint: string;
  readonly resource: ResourceState;
  readonly identity: IdentityState;
  /** The vault with secrets, whatever its name. */
  readonly keyVaultUrl: string;
  readonly keyVault: KeyVaultState;
  readonly tokens: AzureTokens;
};

/** The application, secret and assertion that the simulated tenant knows from the start. */
export const azureTenant = {
  tenantId: '11111111-2222-3333-4444-555555555555',
  clientId: 'aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee',
  clientSecret: 'simulated~client-secret-0123456789',
  assertion: 'eyJ.simulated-service-account-token',
  managedIdentity: '99999999-8888-7777-6666-555555555555',
  identityHeader: 'simulated-identity-header',
} as const;

const usualDeployments: Readonly<Record<string, AzureDeployment>> = {
  'chat-prod': { model: 'gpt-4.1' },
  'chat-async': { model: 'gpt-4.1', filter: 'asynchronous' },
  'reasoning-prod': { model: 'gpt-5' },
  'embed-prod': { model: 'text-embedding-3-small' },
  'speech-prod': { model: 'gpt-4o-mini-tts' },
  'hearing-prod': { model: 'gpt-4o-mini-transcribe' },
  'image-prod': { model: 'gpt-image-1' },
  'sora-2': { model: 'sora-2' },
  'claude-prod': { model: 'claude-sonnet-4-5' },
};

/** Opens the servers. @param open makes a server listen and returns its origin */
export async function startAzure(
  state: SimulatorState,
  open: (server: Server) => Promise<string>,
  { keys = ['azure-key-1'], deployments = usualDeployments, tokenSeconds = 3600 }: AzureOptions,
): Promise<RunningAzure> {
  const tokens = createAzureTokens(state.clock.nowMs, tokenSeconds);
  const { tenantId, clientId, clientSecret, assertion, managedIdentity, identityHeader } = azureTenant;
  const identity: IdentityState = {
    applications: [{ tenantId, clientId, secrets: new Set([clientSecret]), assertions: new Set([assertion]) }],
    managedIdentity,
    identityHeader,
    failingStatus: 0,
    throttledCalls: 0,
    requests: [],
  };
  const resource: ResourceState = {
    keys: new Set(keys),
    deployments: new Map(Object.entries(deployments)),
    withoutRole: new Set(),
    throttled: new Map(),
    requests: [],
  };
  const loginUrl = await open(createIdentityServer(identity, tokens));
  const endpoint = await open(createResourceServer(state, resource, tokens));
  const keyVault = createKeyVaultState();
  const keyVaultUrl = await open(createKeyVault(keyVault, tokens));
  return {
    endpoint,
    loginUrl,
    metadataUrl: loginUrl,
    identityEndpoint: `${loginUrl}/msi/token`,
    resource,
    identity,
    keyVaultUrl,
    keyVault,
    tokens,
  };
}
