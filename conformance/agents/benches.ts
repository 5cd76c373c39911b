import type { DialectId } from '../../src/dialects/dialect-id.ts';
import { type SimulatedWeir, startSimulatedGateway, upstreamKey } from '../support/start-simulated-weir.ts';

/** An upstream that every program uses in turn. */
export type AgentUpstream = {
  readonly name: string;
  readonly title: string;
  readonly dialect: DialectId;
};

export const agentUpstreams: readonly AgentUpstream[] = [
  { name: 'anthropic', title: 'Messages', dialect: 'anthropic-messages' },
  { name: 'responses', title: 'Responses', dialect: 'openai-responses' },
  { name: 'chat', title: 'chat', dialect: 'openai-chat' },
  { name: 'gemini', title: 'generate-content', dialect: 'gemini-generate-content' },
];

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

/** A running Weir that sends every model that the programs may call to one upstream. */
export function startAgentWeir(upstream: AgentUpstream): Promise<SimulatedWeir> {
  const { name } = upstream;
  const models = Object.entries(families).map(([family, keepers]) => {
    const model = keepers.includes(name) ? {} : { model: foreignModels[name] };
    return [family, { targets: [{ upstream: name, ...model }] }];
  });
  return startSimulatedGateway({
    models: Object.fromEntries(models),
    upstreams: ({ openai }) => ({
      responses: { vendor: 'openai', baseUrl: openai, apiKey: upstreamKey, dialects: ['openai-responses'] },
      chat: { vendor: 'openai-compatible', baseUrl: openai, apiKey: upstreamKey },
    }),
  });
}
