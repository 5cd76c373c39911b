import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type AzureOptions, type RunningAzure, startAzure } from './clouds/azure/azure-cloud.ts';
import { type GoogleOptions, type RunningGoogle, startGoogle } from './clouds/google/google-cloud.ts';
import { type RunningVault, startVault } from './clouds/vault/vault-server.ts';
import { createCallRecords, type CallRecord } from './call-records.ts';
import { createControlServer } from './control-server.ts';
import { AwsState } from './clouds/aws/aws-state.ts';
import { createBedrockServer } from './clouds/aws/bedrock-server.ts';
import { createClaudePlatform } from './clouds/aws/claude-platform.ts';
import { createSecretsManager, createSecretsManagerState, type SecretsManagerState } from './clouds/aws/secrets-manager.ts';
import { containerToken, createTokenServer, webIdentityToken } from './clouds/aws/token-server.ts';
import { createSearchServer } from './search-engine/search-server.ts';
import type { JsonRecord, SimulatedVendor } from './simulated-vendor.ts';
import { simulatedVendors } from './simulated-vendors.ts';
import { createSimulatorState, type SimulatorClock } from './simulator-state.ts';
import type { Pace } from './steering.ts';
import { createVendorServer } from './vendor-server.ts';
import { describeJob } from './videos/video-jobs.ts';
import { readVideoScript } from './videos/video-script.ts';

type VendorName = SimulatedVendor['name'];

export type SimulatorOptions = {
  /** Address to listen on; 127.0.0.1 if absent. */
  readonly host?: string;
  /** Port of each vendor and of the control server; 0 or absent is a free one. */
  readonly ports?: { readonly [Name in VendorName | 'search' | 'control']?: number };
  /** Determines the answers. The same seed and the same requests give the same replies. `weir` if absent. */
  readonly seed?: string;
  /** Known credentials. Absent: any non-empty one is accepted. */
  readonly apiKeys?: readonly string[];
  readonly pace?: Partial<Pace>;
  /** File to which the record of every call is appended, one JSON object per line. */
  readonly recordFile?: string;
  /** Splits every reply into pieces of this many bytes, whatever its frames are. */
  readonly chunkBytes?: number;
  /** The default behaviour of video jobs: `ms=200;end=failed`, see the README. A job takes four seconds by default. */
  readonly video?: string;
  /** The time of day; the machine's clock if absent. */
  readonly clock?: SimulatorClock;
  /** Also starts a resource of Azure OpenAI with its identity services. */
  readonly azure?: AzureOptions;
  /** Also starts Vertex AI with the token services of Google Cloud. */
  readonly google?: GoogleOptions;
  /** Also starts a Vault. */
  readonly vault?: boolean;
};

/** A simulated AWS account in one region. */
export type SimulatedAws = {
  /** bedrock-runtime and bedrock-mantle. */
  readonly runtimeUrl: string;
  readonly mantleUrl: string;
  /** Claude Platform on AWS, and its only workspace. */
  readonly claudePlatform: { readonly url: string; readonly workspace: string };
  /** STS, the metadata of an instance, and the credential service of a container at `/credentials`. */
  readonly tokensUrl: string;
  readonly webIdentityToken: string;
  readonly containerToken: string;
  /** Secrets Manager. */
  readonly secretsUrl: string;
  readonly secrets: SecretsManagerState;
  /** Its keys, its faults and the requests that came. */
  readonly state: AwsState;
};

export type RunningSimulator = {
  /** Base addresses as each vendor's SDK accepts them. */
  readonly addresses: Readonly<Record<VendorName, string>>;
  /** Clouds that sell the simulated vendors' models. */
  readonly aws: SimulatedAws;
  readonly controlUrl: string;
  /**
   * The simulated web. `url` is a SearXNG; the other services are beside it under their prefixes. Its pages are at
   * `<site>.localhost` on the same port, which `pageOrigin` shows with a `*`.
   */
  readonly search: { readonly url: string; readonly origin: string; readonly pageOrigin: string };
  /** The simulated Azure, if it was asked for. */
  readonly azure?: RunningAzure;
  /** The simulated Google Cloud, if it was asked for. */
  readonly google?: RunningGoogle;
  /** The simulated Vault, if it was asked for. */
  readonly vault?: RunningVault;
  /** From now on the vendors accept these credentials and no others. Only if some were given at the start. */
  readonly replaceKeys: (keys: readonly string[]) => void;
  /** The retained calls, oldest first. */
  readonly records: () => readonly CallRecord[];
  /** The accepted video jobs, oldest first, as in the control server's GET /videos. */
  readonly videos: () => readonly JsonRecord[];
  /** Forgets calls, caches, stored replies, video jobs and faults, and restores the initial pace. */
  readonly reset: () => void;
  /** Aborts running calls and frees the ports. */
  readonly close: () => Promise<void>;
};

const systemClock: SimulatorClock = { nowMs: () => Date.now() };

/**
 * Starts one server for each vendor and the control server. Rejects if a port is in use, without leaving any port open.
 */
export async function startSimulator(options: SimulatorOptions = {}): Promise<RunningSimulator> {
  const host = options.host ?? '127.0.0.1';
  const records = createCallRecords(options.recordFile);
  const state = createSimulatorState({
    seed: options.seed ?? 'weir',
    clock: options.clock ?? systemClock,
    apiKeys: options.apiKeys,
    records,
    pace: { tokensPerSecond: 0, firstTokenMs: 0, tokensPerFrame: 4, chunkBytes: options.chunkBytes ?? 0, ...options.pace },
    ...(options.video !== undefined && { videoScript: readVideoScript(options.video) }),
  });
  const servers: Server[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(servers.splice(0).map(closeServer));
    // Calls that closing aborts record their end in this turn of the event loop.
    await new Promise((resolve) => setImmediate(resolve));
    records.close();
  };
  const open = async (server: Server, port: number | undefined): Promise<string> => {
    servers.push(server);
    return await listen(server, host, port ?? 0);
  };
  try {
    const origins: Record<string, string> = {};
    for (const { vendor, basePath } of simulatedVendors) {
      origins[vendor.name] = (await open(createVendorServer(state, vendor), options.ports?.[vendor.name])) + basePath;
    }
    const searchOrigin = await open(createSearchServer(state), options.ports?.search);
    const search = {
      url: `${searchOrigin}/searxng`,
      origin: searchOrigin,
      pageOrigin: `http://*.localhost:${new URL(searchOrigin).port}`,
    };
    const controlUrl = await open(createControlServer(state), options.ports?.control);
    const azure = options.azure === undefined ? undefined : await startAzure(state, (server) => open(server, 0), options.azure);
    const google = options.google === undefined ? undefined : await startGoogle(state, (server) => open(server, 0), options.google);
    const vault = options.vault === true ? await startVault(state.clock.nowMs, (server) => open(server, 0)) : undefined;
    const { anthropic = '', openai = '', gemini = '', xai = '' } = origins;
    const replaceKeys = (keys: readonly string[]): void => {
      if (state.apiKeys === undefined) throw new Error('this simulator accepts any credential');
      state.apiKeys.clear();
      for (const key of keys) state.apiKeys.add(key);
    };
    const videos = (): readonly JsonRecord[] => state.videoJobs.list().map((job) => describeJob(job, state.clock.nowMs()));
    const addresses = { anthropic, openai, gemini, xai };
    const aws = new AwsState({
      region: 'us-east-1',
      vendors: { anthropic, openai },
      apiKeys: options.apiKeys,
      records,
      nowMs: () => state.clock.nowMs(),
    });
    const secrets = createSecretsManagerState();
    const workspace = 'wrkspc_simulated';
    const [runtimeUrl, mantleUrl, claudeUrl, tokensUrl, secretsUrl] = await Promise.all([
      open(createBedrockServer(aws, 'bedrock'), 0),
      open(createBedrockServer(aws, 'bedrock-mantle'), 0),
      open(createClaudePlatform(aws, workspace), 0),
      open(createTokenServer(aws), 0),
      open(createSecretsManager(aws, secrets), 0),
    ]);
    const claudePlatform = { url: claudeUrl, workspace };
    const tokens = { tokensUrl, webIdentityToken, containerToken };
    const clouds = { aws: { runtimeUrl, mantleUrl, claudePlatform, ...tokens, secretsUrl, secrets, state: aws } };
    const controls = { controlUrl, search, records: records.list, videos, reset: () => state.reset(), replaceKeys, close };
    return { addresses, ...clouds, ...controls, ...(azure && { azure }), ...(google && { google }), ...(vault && { vault }) };
  } catch (error) {
    await close();
    throw error;
  }
}

async function listen(server: Server, host: string, port: number): Promise<string> {
  server.listen(port, host);
  await once(server, 'listening');
  const address = server.address() as AddressInfo;
  return `http://${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`;
}

async function closeServer(server: Server): Promise<void> {
  if (!server.listening) return;
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}
