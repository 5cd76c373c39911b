import assert from 'node:assert/strict';
import { test } from 'node:test';

import { chatOnly, type ModelName, modelNames, models, modelTargets } from '../responses/models.ts';
import { isLong, scaled } from '../support/scale.ts';
import { type SimulatedWeir, startSimulatedWeir } from '../support/start-simulated-weir.ts';

/** A Weir that runs the built-in tools itself for models of each upstream dialect, over the simulated web. */
export type ToolBench = SimulatedWeir & {
  /** The address of a page of the simulated web. */
  readonly page: (site: string, path: string) => string;
};

/** A model of each upstream dialect. None of their vendors receives a built-in tool: they get functions. */
export const toolModels = modelNames;

const isDeep = scaled(0, 1) === 1;

/**
 * Registers a test that starts Python, which costs a second of processor time, and five for the first of a process.
 * `npm test` runs one client with one model whole and with another streamed; the deep form runs each client with each
 * model, whole or streamed in turn, and both with WEIR_LONG=1.
 * @param client a number of its own for each client, so that the clients together use every model
 */
export function pythonTest(client: number, model: ModelName, streamed: boolean): typeof test | undefined {
  const at = toolModels.indexOf(model);
  const isTurn = isDeep ? isLong || (client + at + Number(streamed)) % 2 === 0 : client === 0 && at === Number(streamed);
  return isTurn ? test : undefined;
}

/** Registers a test that starts no Python: `npm test` runs all of them, and the deep form none. */
export const quickTest: typeof test | undefined = isDeep ? undefined : test;

/**
 * Registers a test that starts no Python, and that exists whole and streamed. `npm test` runs each client with each
 * model, whole or streamed in turn, and both with WEIR_LONG=1.
 */
export const quickTestOf = (client: number, model: ModelName, streamed: boolean): typeof test | undefined =>
  isLong || (client + toolModels.indexOf(model) + Number(streamed)) % 2 === 0 ? quickTest : undefined;

export const searchQuestion = 'Search the web for the swing bridge of Eastquay';
export const codeQuestion = 'Run python: print(6 * 7)';
export const nextQuestion = 'And what does that tell us?';

/** A model with a name by which an SDK assumes that it has the tools: @ai-sdk/google decides by the name. */
export const geminiNameOf = (name: ModelName, series: '2.5' | '3'): string => `gemini-${series}-by-${name}`;

export async function startToolBench(): Promise<ToolBench> {
  const renamed = Object.fromEntries(
    toolModels.flatMap((name) => (['2.5', '3'] as const).map((series) => [geminiNameOf(name, series), { targets: [modelTargets[name]] }])),
  );
  const running = await startSimulatedWeir({
    models: { ...models, ...renamed },
    runsTools: true,
    upstreams: ({ openai }) => chatOnly(openai),
  });
  const { port } = new URL(running.simulator.search.origin);
  return { ...running, page: (site, path) => `http://${site}.localhost:${port}${path}` };
}

/** Compares a cited passage with the results of the search: it has text, and no mark of a source remains in it. */
export function assertPassage(passage: string): void {
  assert.match(passage, /\w+ \w+.*[.…]$/, 'the citation is a sentence');
  assert.ok(!passage.includes('【'));
}
