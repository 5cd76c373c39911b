import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import OpenAI from 'openai';

import { longReply, steer } from '../sdk/steer.ts';
import { eventually } from '../support/http.ts';
import { startSimulatedGateway, type SimulatedWeir } from '../support/start-simulated-weir.ts';
import { chatOnly, modelNames, models } from './models.ts';

type Told = { readonly id: string; readonly text: string; readonly failed: OpenAI.Responses.Response | undefined };

/** Reads a stream to its end, which is an error. */
async function readBroken(stream: AsyncIterable<OpenAI.Responses.ResponseStreamEvent>): Promise<Told> {
  let [id, text] = ['', ''];
  let failed: OpenAI.Responses.Response | undefined;
  try {
    for await (const event of stream) {
      if (event.type === 'response.created') id = event.response.id;
      if (event.type === 'response.output_text.delta') text += event.delta;
      if (event.type === 'response.failed') failed = event.response;
    }
  } catch (error) {
    assert.ok(error instanceof OpenAI.APIError, String(error));
  }
  return { id, text, failed };
}

/** A response whose beginning the client has seen can be read afterwards with its final state. */
describe('responses that break after their client saw them begin', () => {
  let running: SimulatedWeir;
  let client: OpenAI;
  const find = (id: string) =>
    client.responses
      .retrieve(id)
      .catch((error: unknown) => (error instanceof OpenAI.NotFoundError ? undefined : Promise.reject(error as Error)));
  before(async () => {
    running = await startSimulatedGateway({ models, upstreams: ({ openai }) => chatOnly(openai) });
    client = new OpenAI({ baseURL: `${running.weir.gatewayUrl}/v1`, apiKey: running.weir.apiKey, maxRetries: 0 });
  });
  after(() => running[Symbol.asyncDispose]());

  const faults = ['reset-mid-stream;after=4', 'truncate;after=4', 'error-event;after=4'];
  for (const model of modelNames) {
    for (const fault of faults) {
      test(`${model}, ${fault}: the response is failed, with its error and its output`, async () => {
        const stream = await client.responses.create(
          { model, input: 'Tell a story.', stream: true },
          // Slow enough that the content before the break reaches the client separately.
          steer({ 'output-tokens': 60, pace: 'tokensPerSecond=20;tokensPerFrame=2', fault }),
        );
        const told = await readBroken(stream);
        assert.notEqual(told.text, '');
        const kept = await eventually(
          () => find(told.id),
          (response) => response !== undefined,
        );
        assert.ok(kept);
        assert.equal(kept.status, 'failed');
        assert.equal(typeof kept.error?.message, 'string');
        assert.equal(kept.output_text, told.text);
        const going = client.responses.create({ model, input: 'And?', previous_response_id: told.id });
        await assert.rejects(going, { status: 400, param: 'previous_response_id' });
      });
    }

    test(`${model}: a client that disconnects leaves nothing behind`, async () => {
      const stream = await client.responses.create(
        { model, input: 'Tell a story.', stream: true },
        steer({ ...longReply, tag: `left-${model}` }),
      );
      let id = '';
      for await (const event of stream) {
        if (event.type === 'response.created') id = event.response.id;
        if (event.type === 'response.output_text.delta') break;
      }
      stream.controller.abort();
      await eventually(
        () => Promise.resolve(running.simulator.records().find(({ tag }) => tag === `left-${model}`)?.ending),
        (ending) => ending === 'client-closed',
      );
      assert.equal(await find(id), undefined);
    });
  }

  test('a conversation is unlocked again, and has nothing of the broken response', async () => {
    const { id: conversation } = await client.conversations.create();
    const stream = await client.responses.create(
      { model: 'messages', conversation, input: 'Tell a story.', stream: true },
      steer({ 'output-tokens': 60, fault: 'reset-mid-stream;after=4' }),
    );
    await readBroken(stream);
    const next = await client.responses.create({ model: 'messages', conversation, input: 'Again.' }, { maxRetries: 5 });
    assert.equal(next.status, 'completed');
    const items = await client.conversations.items.list(conversation);
    assert.equal(items.data.filter(({ type }) => type === 'message').length, 2);
  });
});
