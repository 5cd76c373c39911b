import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import OpenAI from 'openai';

import { saying, steer } from '../sdk/steer.ts';
import { eventually } from '../support/http.ts';
import { type HeldUpstream, startHeldUpstream } from '../support/start-held-upstream.ts';
import { startSimulatedGateway, type SimulatedWeir } from '../support/start-simulated-weir.ts';
import { chatOnly, modelNames, models, modelTargets } from './models.ts';

const sumTool = {
  type: 'function' as const,
  name: 'add',
  description: 'Adds.',
  parameters: { type: 'object', properties: { a: { type: 'number' } }, required: ['a'], additionalProperties: false },
  strict: false,
};

/** The SDK's type omits it. */
const storeOf = (response: OpenAI.Responses.Response): unknown => ('store' in response ? response.store : undefined);

describe('conversations over stored responses', () => {
  let held: HeldUpstream;
  let running: SimulatedWeir;
  let client: OpenAI;
  const sentFor = (wanted: string): string =>
    JSON.stringify(running.simulator.records().findLast(({ tag }) => tag === wanted)?.requestBody ?? {});
  before(async () => {
    held = await startHeldUpstream();
    running = await startSimulatedGateway({
      models: {
        ...models,
        kept: { targets: [modelTargets.responses], responseState: 'gateway' },
        upstream: { targets: [modelTargets.responses], responseState: 'upstream' },
        both: { targets: [modelTargets.responses, modelTargets.messages] },
        held: { targets: [{ upstream: 'held', model: 'held' }] },
      },
      upstreams: ({ openai }) => ({ ...chatOnly(openai), held: held.upstream }),
      retries: {},
    });
    client = new OpenAI({ baseURL: `${running.weir.gatewayUrl}/v1`, apiKey: running.weir.apiKey, maxRetries: 0 });
  });
  after(async () => {
    await running[Symbol.asyncDispose]();
    await held.close();
  });

  test('a conversation continues across models and upstreams, with tools and their outputs', async () => {
    let previous: string | undefined;
    for (const [turn, model] of [...modelNames, ...modelNames.toReversed()].entries()) {
      const response = await client.responses.create(
        { model, input: `Question ${turn}.`, ...(previous === undefined ? {} : { previous_response_id: previous }) },
        saying(`Answer ${turn}.`, { tag: `across-${turn}` }),
      );
      assert.equal(response.output_text, `Answer ${turn}.`);
      previous = response.id;
      const sent = sentFor(`across-${turn}`);
      for (let earlier = 0; earlier < turn; earlier++) {
        assert.match(sent, new RegExp(`Question ${earlier}\\..*Answer ${earlier}\\.`), `turn ${turn} has turn ${earlier}`);
      }
    }
  });

  for (const from of modelNames) {
    for (const to of modelNames) {
      test(`the result of a tool that ${from} called reaches ${to}`, async () => {
        const asked = await client.responses.create(
          { model: from, input: 'Add 2.', tools: [sumTool] },
          steer({ 'tool-name': 'add', 'tool-arguments': encodeURIComponent('{"a":2}') }),
        );
        const [call] = asked.output.filter((item) => item.type === 'function_call');
        assert.ok(call);
        const answered = await client.responses.create(
          {
            model: to,
            previous_response_id: asked.id,
            input: [{ type: 'function_call_output', call_id: call.call_id, output: 'the sum is 4711' }],
            tools: [sumTool],
          },
          saying('Done.', { tag: `tool-${from}-${to}` }),
        );
        assert.equal(answered.output_text, 'Done.');
        const sent = sentFor(`tool-${from}-${to}`);
        assert.match(sent, /the sum is 4711/);
        if (from === 'responses' && to === 'responses') return;
        assert.match(sent, /Add 2\./);
      });
    }
  }

  test('instructions are not carried over', async () => {
    const first = await client.responses.create({ model: 'chat', input: 'Hi', instructions: 'Only in the first turn.' }, saying('Hello'));
    await client.responses.create(
      { model: 'chat', input: 'And?', instructions: 'Only in the second.', previous_response_id: first.id },
      saying('Well', { tag: 'instructed' }),
    );
    assert.doesNotMatch(sentFor('instructed'), /Only in the first turn/);
    assert.match(sentFor('instructed'), /Only in the second/);
  });

  test('a streamed response can be continued as soon as its last event has arrived', async () => {
    for (let round = 0; round < 20; round++) {
      const stream = await client.responses.create({ model: 'messages', input: 'Hi', stream: true }, saying('Hello'));
      let next: Promise<OpenAI.Responses.Response> | undefined;
      for await (const event of stream) {
        if (event.type !== 'response.completed') continue;
        next = client.responses.create({ model: 'messages', input: 'And?', previous_response_id: event.response.id }, saying('Yes'));
      }
      assert.equal((await next)?.output_text, 'Yes');
    }
  });

  test('a response may be continued more than once', async () => {
    const first = await client.responses.create({ model: 'chat', input: 'Root.' }, saying('Trunk.'));
    const branches = await Promise.all(
      ['left', 'right'].map((side) =>
        client.responses.create(
          { model: 'chat', input: `Go ${side}.`, previous_response_id: first.id },
          saying(side, { tag: `branch-${side}` }),
        ),
      ),
    );
    assert.deepEqual(
      branches.map(({ output_text: text }) => text),
      ['left', 'right'],
    );
    assert.doesNotMatch(sentFor('branch-left'), /Go right/);
  });

  test('a reply that the limit cut can be continued', async () => {
    const first = await client.responses.create({ model: 'messages', input: 'Hi' }, saying('Half a sentence', { stop: 'max-tokens' }));
    assert.equal(first.status, 'incomplete');
    const second = await client.responses.create({ model: 'messages', input: 'Go on', previous_response_id: first.id }, saying('done'));
    assert.equal(second.status, 'completed');
  });

  test('a response that is not stored cannot be continued, read or referred to', async () => {
    for (const model of modelNames) {
      const first = await client.responses.create({ model, input: 'Hi', store: false }, saying('Hello'));
      assert.equal(storeOf(first), false);
      await assert.rejects(
        client.responses.create({ model, input: 'And?', previous_response_id: first.id }),
        (error) => error instanceof OpenAI.BadRequestError && error.code === 'previous_response_not_found',
      );
      await assert.rejects(client.responses.retrieve(first.id), OpenAI.NotFoundError);
    }
  });

  test('an open call must be answered', async () => {
    const asked = await client.responses.create({ model: 'chat', input: 'Add', tools: [sumTool] }, steer({ 'tool-name': 'add' }));
    await assert.rejects(
      client.responses.create({ model: 'chat', input: 'Never mind.', previous_response_id: asked.id }),
      (error) => error instanceof OpenAI.BadRequestError && /No tool output found for function call/.test(error.message),
    );
  });

  test("if the gateway stores a model's state, the upstream stores nothing", async () => {
    const first = await client.responses.create({ model: 'kept', input: 'My name is Eve.' }, saying('Hi Eve', { tag: 'kept-first' }));
    assert.equal(storeOf(first), true);
    assert.match(sentFor('kept-first'), /"store":false/);
    const second = await client.responses.create(
      { model: 'kept', input: 'And?', previous_response_id: first.id },
      saying('Eve', { tag: 'kept-second' }),
    );
    assert.equal(second.previous_response_id, first.id);
    assert.match(sentFor('kept-second'), /My name is Eve\..*Hi Eve.*And\?/);
    assert.doesNotMatch(sentFor('kept-second'), /previous_response_id/);
  });

  test("if the upstream stores a model's state, the gateway leaves it there", async () => {
    const first = await client.responses.create({ model: 'upstream', input: 'Hi' }, saying('Hello'));
    const second = await client.responses.create({ model: 'upstream', input: 'And?', previous_response_id: first.id }, saying('Yes'));
    assert.equal(second.previous_response_id, first.id);
    await assert.rejects(client.responses.retrieve(first.id), OpenAI.NotFoundError);
  });

  test('if the upstream that stores a conversation fails, another receives all of it', async () => {
    const first = await client.responses.create(
      { model: 'both', input: 'My name is Mallory.' },
      saying('Hi Mallory', { tag: 'both-first' }),
    );
    const faults = [{ fault: 'status;status=500', vendor: 'openai', times: 1 }];
    await fetch(`${running.simulator.controlUrl}/settings`, { method: 'POST', body: JSON.stringify({ faults }) });
    const second = await client.responses.create(
      { model: 'both', input: 'Who am I?', previous_response_id: first.id },
      saying('Mallory', { tag: 'both-second' }),
    );
    assert.equal(second.output_text, 'Mallory');
    assert.equal(second.previous_response_id, first.id);
    assert.match(sentFor('both-second'), /My name is Mallory\..*Hi Mallory.*Who am I\?/);
  });

  test('if the upstream has lost its stored conversation, it receives all of it', async () => {
    const first = await client.responses.create({ model: 'responses', input: 'My name is Peggy.' }, saying('Hi Peggy'));
    // The vendor deletes it without the gateway's knowledge.
    const deleted = await fetch(`${running.simulator.addresses.openai}/responses/${first.id}`, {
      method: 'DELETE',
      headers: { authorization: 'Bearer sk-upstream-0123456789abcdef' },
    });
    assert.equal(deleted.status, 200);
    for (const stream of [false, true]) {
      const body = { model: 'responses', input: 'Who am I?', previous_response_id: first.id };
      const steering = saying('Peggy', { tag: `forgotten-${stream}` });
      const text = stream
        ? (await client.responses.stream(body, steering).finalResponse()).output_text
        : (await client.responses.create(body, steering)).output_text;
      assert.equal(text, 'Peggy');
      assert.match(sentFor(`forgotten-${stream}`), /My name is Peggy\..*Hi Peggy.*Who am I\?/);
    }
  });

  test('a conversation is unlocked when its call is refused', async () => {
    const asked = await client.responses.create({ model: 'chat', input: 'Add', tools: [sumTool] }, steer({ 'tool-name': 'add' }));
    const [call] = asked.output.filter((item) => item.type === 'function_call');
    assert.ok(call);
    const { id: conversation } = await client.conversations.create({ items: [call] });
    for (let attempt = 0; attempt < 2; attempt++) {
      await assert.rejects(
        client.responses.create({ model: 'chat', input: 'Never mind.', conversation }),
        (error) => error instanceof OpenAI.BadRequestError && /No tool output found/.test(error.message),
      );
    }
    const unknown = client.responses.create({ model: 'no-such-model', input: 'Hi', conversation });
    await assert.rejects(unknown, OpenAI.APIError);
    await client.responses.create(
      { model: 'chat', input: [{ type: 'function_call_output', call_id: call.call_id, output: '2' }], conversation },
      saying('two'),
    );
  });

  test('items can be referred to by their ids', async () => {
    const first = await client.responses.create({ model: 'chat', input: 'Remember 4711.' }, saying('I shall remember 4711.'));
    const [item] = first.output;
    assert.ok(item?.id);
    await client.responses.create(
      {
        model: 'messages',
        input: [
          { type: 'item_reference', id: item.id },
          { role: 'user', content: 'What was it?' },
        ],
      },
      saying('4711', { tag: 'referred' }),
    );
    assert.match(sentFor('referred'), /I shall remember 4711\..*What was it\?/);
    await assert.rejects(
      client.responses.create({ model: 'messages', input: [{ type: 'item_reference', id: 'msg_unknown' }] }),
      OpenAI.NotFoundError,
    );
  });

  test('a conversation object collects its turns, and is used by one response at a time', async () => {
    const conversation = await client.conversations.create({ items: [{ type: 'message', role: 'user', content: 'My name is Trent.' }] });
    const first = await client.responses.create({ model: 'chat', input: 'Hello', conversation: conversation.id }, saying('Hi Trent'));
    assert.equal(first.conversation?.id, conversation.id);
    await client.responses.create(
      { model: 'messages', input: 'Who am I?', conversation: { id: conversation.id } },
      saying('Trent', { tag: 'conversation' }),
    );
    assert.match(sentFor('conversation'), /My name is Trent\..*Hello.*Hi Trent.*Who am I\?/);
    const items = await client.conversations.items.list(conversation.id, { order: 'asc' });
    assert.equal(items.data.length, 5);
    const slow = client.responses.create({ model: 'held', input: 'Slow', conversation: conversation.id });
    await eventually(held.asked, (asked) => asked === 1);
    await assert.rejects(
      client.responses.create({ model: 'chat', input: 'Too early', conversation: conversation.id }, saying('no')),
      (error) => error instanceof OpenAI.BadRequestError && error.code === 'conversation_locked',
    );
    held.release();
    await slow;
    await client.responses.create({ model: 'chat', input: 'Now', conversation: conversation.id }, saying('yes'));
  });

  test('a deleted response is gone, and its continuations remain', async () => {
    for (const model of modelNames) {
      const first = await client.responses.create({ model, input: 'The word is heron.' }, saying('Noted.'));
      const second = await client.responses.create({ model, input: 'Good.', previous_response_id: first.id }, saying('Yes.'));
      await client.responses.delete(first.id);
      await assert.rejects(client.responses.retrieve(first.id), OpenAI.NotFoundError);
      await assert.rejects(client.responses.create({ model, input: 'x', previous_response_id: first.id }), OpenAI.BadRequestError);
      const third = await client.responses.create({ model, input: 'The word?', previous_response_id: second.id }, saying('heron'));
      assert.equal(third.output_text, 'heron');
      const items = await client.responses.inputItems.list(third.id, { order: 'asc' });
      assert.match(JSON.stringify(items.data), /The word is heron\..*Good\..*The word\?/);
    }
  });

  test('a stored response is read as it was answered', async () => {
    for (const model of modelNames) {
      const created = await client.responses.create({ model, input: 'Hi', metadata: { purpose: 'test' } }, saying('Hello'));
      const read = await client.responses.retrieve(created.id);
      assert.deepEqual({ ...read, output_text: undefined }, { ...created, output_text: undefined });
    }
  });
});
