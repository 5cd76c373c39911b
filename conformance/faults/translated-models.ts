import type { RunningSimulator } from 'weir-simulator';

import type { DialectId } from '../../src/dialects/dialect-id.ts';
import { arrayInterface, chatInterfaces } from '../support/interfaces.ts';
import { type StartSimulatedWeirOptions, upstreamKey } from '../support/start-simulated-weir.ts';
import type { Mode } from './fault-bench.ts';

/** Priced models whose upstream speaks only one dialect, so that clients of the others are translated. */
const targets: Readonly<Record<DialectId, { readonly upstream: string; readonly model: string }>> = {
  'anthropic-messages': { upstream: 'anthropic', model: 'claude-sonnet-4-5' },
  'openai-responses': { upstream: 'only-responses', model: 'gpt-4.1' },
  'openai-chat': { upstream: 'only-chat', model: 'gpt-4.1' },
  'gemini-generate-content': { upstream: 'gemini', model: 'gemini-2.5-flash' },
};

const dialects = Object.keys(targets) as readonly DialectId[];

export const translatedModel = (to: DialectId): string => `to-${to}`;

/** The upstreams and models of weir.yaml that make a simulated Weir translate. */
export const translating: Pick<StartSimulatedWeirOptions, 'upstreams' | 'models'> = {
  upstreams: ({ openai }: RunningSimulator['addresses']) => {
    const upstream = { vendor: 'openai', baseUrl: openai, apiKey: upstreamKey, forwardHeaders: ['x-simulator-*'] };
    return { 'only-responses': { ...upstream, dialects: ['openai-responses'] }, 'only-chat': { ...upstream, dialects: ['openai-chat'] } };
  },
  models: Object.fromEntries(dialects.map((to) => [translatedModel(to), { targets: [targets[to]] }])),
};

export type Direction = { readonly mode: Mode; readonly to: DialectId; readonly title: string };

/** Every possible translation: the client's interface, whole or streamed, and the upstream's dialect. */
export const translations: readonly Direction[] = [...chatInterfaces, arrayInterface].flatMap((api) =>
  dialects
    .filter((to) => to !== api.dialect)
    .flatMap((to) =>
      (api === arrayInterface ? [true] : [true, false]).map((stream) => {
        const title = `${api.dialect}${api === arrayInterface ? ' array' : ''}${stream ? ' stream' : ''} from ${to}`;
        return { mode: { title, api, stream }, to, title };
      }),
    ),
);
