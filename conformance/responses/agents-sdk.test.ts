import assert from 'node:assert/strict';
import { after, before, describe } from 'node:test';

import {
  Agent,
  type AgentInputItem,
  codeInterpreterTool,
  OpenAIProvider,
  Runner,
  setTracingDisabled,
  tool,
  webSearchTool,
} from '@openai/agents';
import OpenAI from 'openai';
import { z } from 'zod';

import { pythonTest, quickTest } from '../sdk/start-tool-bench.ts';
import { startSimulatedGateway, type SimulatedWeir } from '../support/start-simulated-weir.ts';
import { chatOnly, modelNames, models } from './models.ts';

/** The prompt directs the simulated model, because the SDK does not send headers of the test. */
const doing = (steering: Readonly<Record<string, string>>): string =>
  `[[simulator ${Object.entries(steering)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join(' ')}]]`;

const user = (content: string): AgentInputItem => ({ role: 'user', content });

/** The Agents SDK drives tools and turns by itself, over stored responses or over a conversation. */
describe('OpenAI Agents SDK', () => {
  let running: SimulatedWeir;
  let client: OpenAI;
  before(async () => {
    setTracingDisabled(true);
    running = await startSimulatedGateway({ models, runsTools: true, upstreams: ({ openai }) => chatOnly(openai) });
    client = new OpenAI({ baseURL: `${running.weir.gatewayUrl}/v1`, apiKey: running.weir.apiKey, maxRetries: 0 });
  });
  after(() => running[Symbol.asyncDispose]());
  const createRunner = (): Runner => {
    const baseURL = `${running.weir.gatewayUrl}/v1`;
    const modelProvider = new OpenAIProvider({ baseURL, apiKey: running.weir.apiKey, useResponses: true });
    return new Runner({ tracingDisabled: true, modelProvider });
  };

  for (const name of modelNames) {
    describe(`upstream: ${name}`, () => {
      const createAgent = (called: string[]) =>
        new Agent({
          name: 'clerk',
          instructions: 'Help.',
          model: name,
          tools: [
            tool({
              name: 'look_up',
              description: 'Looks a word up.',
              parameters: z.object({ word: z.string() }),
              execute: ({ word }) => {
                called.push(word);
                return `${word} is a wading bird`;
              },
            }),
          ],
        });
      const ask = doing({ 'tool-name': 'look_up', 'tool-arguments': '{"word":"heron"}', text: 'A heron wades.' });

      quickTest?.('a tool is run and answered, then the next turn continues from the stored response', async () => {
        const called: string[] = [];
        const runner = createRunner();
        const first = await runner.run(createAgent(called), `What is a heron? ${ask}`);
        assert.deepEqual(called, ['heron']);
        assert.equal(first.finalOutput, 'A heron wades.');
        assert.ok(first.lastResponseId);
        const second = await runner.run(createAgent(called), `And now? ${doing({ text: 'It flies.' })}`, {
          previousResponseId: first.lastResponseId,
        });
        assert.equal(second.finalOutput, 'It flies.');
      });

      for (const streamed of [false, true]) {
        const withPython = pythonTest(3, name, streamed);
        withPython?.(
          `hosted tools are run by the service, and the whole run is the next one’s history (${streamed ? 'streamed' : 'whole'})`,
          async () => {
            const agent = new Agent({ name: 'clerk', instructions: 'Help.', model: name, tools: [webSearchTool(), codeInterpreterTool()] });
            const runner = createRunner();
            const run = async (input: AgentInputItem[]) => {
              if (!streamed) return await runner.run(agent, input);
              const result = await runner.run(agent, input, { stream: true });
              await result.completed;
              return result;
            };
            const first = await run([user('Search the web for the swing bridge of Eastquay. Compute: 6 * 7')]);
            assert.match(first.finalOutput ?? '', /^Here is what I found\. /);
            const hosted = first.newItems.flatMap(({ rawItem }) => (rawItem?.type === 'hosted_tool_call' ? [rawItem] : []));
            assert.deepEqual(
              hosted.map((item) => [item.name, item.status]),
              [
                ['web_search_call', 'completed'],
                ['code_interpreter_call', 'completed'],
              ],
            );
            const second = await run([...first.history, user('And now?')]);
            assert.ok(second.finalOutput);
          },
        );
      }

      quickTest?.('a streamed run works over a conversation', async () => {
        const called: string[] = [];
        const runner = createRunner();
        const { id: conversationId } = await client.conversations.create({});
        const first = await runner.run(createAgent(called), `What is a heron? ${ask}`, { stream: true, conversationId });
        let text = '';
        for await (const piece of first.toTextStream()) text += piece;
        assert.equal(text, 'A heron wades.');
        assert.deepEqual(called, ['heron']);
        const items = await client.conversations.items.list(conversationId, { order: 'asc' });
        assert.deepEqual(
          items.data.map((item) => item.type).filter((type) => type !== 'reasoning'),
          ['message', 'function_call', 'function_call_output', 'message'],
        );
      });
    });
  }
});
