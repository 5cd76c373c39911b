import type { RunningSimulator } from 'weir-simulator';

import type { UpstreamDialectId } from '../../src/dialects/dialect-id.ts';
import { type SimulatedWeir, startSimulatedGateway, upstreamKey } from '../support/start-simulated-weir.ts';

/** An upstream that every program uses in turn. */
export type AgentUpstream = {
  readonly name: string;
  readonly title: string;
  readonly dialect: UpstreamDialectId;
  /** The model of a cloud, which all models go to, and whose requests have another form there. Absent: a vendor. */
  readonly cloud?: { readonly model: string; readonly is?: string };
};

/** One upstream for each interface, at its vendor. */
export const vendorUpstreams = [
  { name: 'anthropic', title: 'Messages', dialect: 'anthropic-messages' },
  { name: 'responses', title: 'Responses', dialect: 'openai-responses' },
  { name: 'chat', title: 'chat', dialect: 'openai-chat' },
  { name: 'gemini', title: 'generate-content', dialect: 'gemini-generate-content' },
] as const satisfies readonly AgentUpstream[];

const sonnet = { model: 'us.anthropic.claude-sonnet-4-5-20250929-v1:0', is: 'claude-sonnet-4-5' } as const;

/** The models of every cloud, by each of their interfaces. */
export const cloudUpstreams: readonly AgentUpstream[] = [
  { name: 'bedrock', title: 'Claude at Bedrock', dialect: 'anthropic-messages', cloud: sonnet },
  {
    name: 'bedrock-messages',
    title: 'Claude at Bedrock by Messages',
    dialect: 'anthropic-messages',
    cloud: { model: 'us.anthropic.claude-opus-5', is: 'claude-opus-5' },
  },
  { name: 'nova', title: 'Nova at Bedrock', dialect: 'bedrock-converse', cloud: { model: 'us.amazon.nova-pro-v1:0' } },
  { name: 'llama', title: 'Llama at Bedrock', dialect: 'bedrock-converse', cloud: { model: 'us.meta.llama3-3-70b-instruct-v1:0' } },
  { name: 'bedrock-gpt', title: 'GPT at Bedrock', dialect: 'openai-responses', cloud: { model: 'openai.gpt-oss-20b-1:0' } },
  { name: 'vertex-claude', title: 'Claude at Vertex AI', dialect: 'anthropic-messages', cloud: { model: 'claude-sonnet-4-5@20250929' } },
  { name: 'vertex-gemini', title: 'Gemini at Vertex AI', dialect: 'gemini-generate-content', cloud: { model: 'gemini-2.5-flash' } },
  { name: 'foundry', title: 'Claude at Foundry', dialect: 'anthropic-messages', cloud: { model: 'claude-prod', is: 'claude-sonnet-4-5' } },
  { name: 'azure', title: 'GPT at Azure', dialect: 'openai-responses', cloud: { model: 'reasoning-prod', is: 'gpt-5' } },
  { name: 'azure-chat', title: 'GPT at Azure by chat', dialect: 'openai-chat', cloud: { model: 'chat-prod', is: 'gpt-4.1' } },
];

export const agentUpstreams: readonly AgentUpstream[] = [...vendorUpstreams, ...cloudUpstreams];

/** The name of a model at an upstream of another vendor. */
const foreignModels: Readonly<Record<string, string>> = {
  anthropic: 'claude-sonnet-4-5',
  responses: 'gpt-5-mini',
  chat: 'llama-4',
  gemini: 'gemini-2.5-flash',
};

/** Prefixes of model names, with the upstreams at which they keep their name. */
const families: Readonly<Record<string, readonly string[]>> = {
  'claude-*': ['anthropic'],
  // The compatible server serves one of OpenAI's older models and none of its newer ones.
  'gpt-4*': ['responses', 'chat'],
  'gpt-*': ['responses'],
  'gemini-*': ['gemini'],
};

/** Every cloud as an upstream. */
function describeClouds({ aws, google, azure }: RunningSimulator): Readonly<Record<string, object>> {
  if (google === undefined || azure === undefined) throw new Error('the simulated clouds do not run');
  const { accessKeyId, secretAccessKey } = aws.state.addUser();
  const vertex = {
    vendor: 'vertex',
    baseUrl: google.vertexUrl,
    project: google.project,
    credential: { kind: 'google', from: 'metadata', metadataUrl: google.identityUrl },
  };
  const bedrock = {
    vendor: 'bedrock',
    region: 'us-east-1',
    baseUrl: aws.runtimeUrl,
    credential: { kind: 'aws', accessKeyId, secretAccessKey },
  };
  const keyed = { baseUrl: azure.endpoint, apiKey: 'azure-key-1' };
  return {
    bedrock,
    'bedrock-messages': bedrock,
    nova: bedrock,
    llama: bedrock,
    'bedrock-gpt': bedrock,
    'vertex-claude': vertex,
    'vertex-gemini': vertex,
    foundry: { vendor: 'foundry', ...keyed },
    azure: { vendor: 'azure', ...keyed },
    'azure-chat': { vendor: 'azure', ...keyed, dialects: ['openai-chat'] },
  };
}

/** A running Weir that sends every model that the programs may call to one upstream. */
export function startAgentWeir(upstream: AgentUpstream): Promise<SimulatedWeir> {
  const { name, cloud } = upstream;
  const models = Object.entries(families).map(([family, keepers]) => {
    const model = keepers.includes(name) ? {} : (cloud ?? { model: foreignModels[name] });
    return [family, { targets: [{ upstream: name, ...model }] }];
  });
  return startSimulatedGateway({
    models: Object.fromEntries(models),
    ...(cloud !== undefined && { simulator: { google: {}, azure: {} }, clouds: describeClouds }),
    upstreams: ({ openai }) => ({
      responses: { vendor: 'openai', baseUrl: openai, apiKey: upstreamKey, dialects: ['openai-responses'] },
      chat: { vendor: 'openai-compatible', baseUrl: openai, apiKey: upstreamKey },
    }),
  });
}
