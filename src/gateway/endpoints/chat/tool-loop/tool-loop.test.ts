import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createFakeTool, findOne, readEvents, settle, startLoop } from './testing/fake-loop.ts';

test('a search and an answer that cites it are one reply, with a row for each round and one for the tools', async () => {
  const call = await startLoop();
  await call.call(['web_search', { query: 'cats' }, 'c1']);
  assert.deepEqual(call.rows(), ['req_1 finished', 'req_1.1.tools finished']);
  const messages = JSON.stringify(call.lastRequest().messages);
  assert.match(messages, /"tool_calls"/);
  assert.match(messages, /【1】 about cats/);
  await call.say('Cats eat fish.【1】 Really.');
  assert.deepEqual(call.rows(), ['req_1 finished', 'req_1.1.tools finished', 'req_1.2 finished']);
  assert.deepEqual(
    call.entries.map(({ parentCallId }) => parentCallId),
    [undefined, 'req_1', 'req_1'],
  );
  const text = call.response.text();
  assert.ok(!text.includes('【'), text);
  assert.match(text, /server_tool_use/);
  assert.match(text, /https:\/\/example.org\/cats/);
  const events = readEvents(text);
  assert.equal(events.filter(({ type }) => type === 'message_start').length, 1);
  assert.equal(events.filter(({ type }) => type === 'message_stop').length, 1);
  assert.match(text, /"output_tokens":4/);
  assert.ok(call.response.writableEnded);
});

test('a whole reply is written once, at the end', async () => {
  const call = await startLoop({ stream: false, dialect: 'openai-responses' });
  await call.call(['web_search', { query: 'cats' }, 'c1']);
  assert.equal(call.response.headersSent, false);
  await call.say('Cats eat fish.【1】');
  const reply = JSON.parse(call.response.text());
  assert.equal(call.response.status, 200);
  assert.deepEqual(
    reply.output.map(({ type }: { type: string }) => type),
    ['web_search_call', 'message'],
  );
  assert.equal(reply.output[1].content[0].text, 'Cats eat fish.');
  assert.equal(reply.output[1].content[0].annotations[0].url, 'https://example.org/cats');
  assert.equal(reply.usage.total_tokens, 24);
  assert.match(String(call.response.headers['content-type']), /application\/json/);
});

test('calls of one turn run concurrently and are shown in their order', async () => {
  const begun: string[] = [];
  const release: (() => void)[] = [];
  const tool = createFakeTool({
    run: async (run) => {
      begun.push(JSON.stringify(run.arguments.query));
      await new Promise<void>((resolve) => release.push(resolve));
      return findOne(run);
    },
  });
  const call = await startLoop({ tools: [tool] });
  await call.call(['web_search', { query: 'one' }, 'c1'], ['web_search', { query: 'two' }, 'c2']);
  assert.deepEqual(begun, ['"one"', '"two"']);
  release[1]?.();
  await settle();
  assert.ok(!call.response.text().includes('about two'));
  release[0]?.();
  await settle();
  await call.say('Yes.【1】【101】');
  const text = call.response.text();
  assert.ok(text.indexOf('example.org/one') < text.indexOf('example.org/two'));
  assert.match(text, /"url":"https:\/\/example.org\/two"/);
});

test('a function of the client ends the reply, after the tools of the same turn', async () => {
  const client = { kind: 'function', name: 'mine', parameters: { type: 'object' } } as const;
  const call = await startLoop({ request: { tools: [client] } });
  await call.call(['web_search', { query: 'cats' }, 'c1'], ['mine', { x: 1 }, 'c2']);
  const text = call.response.text();
  assert.ok(text.indexOf('server_tool_use') < text.indexOf('"name":"mine"'));
  assert.match(text, /"stop_reason":"tool_use"/);
  assert.ok(call.response.writableEnded);
  assert.equal(call.sent.length, 1);
});

test('a function of the client with the name of a tool is not the tool', async () => {
  const client = { kind: 'function', name: 'web_search', parameters: { type: 'object' } } as const;
  const call = await startLoop({ request: { tools: [client] } });
  assert.match(JSON.stringify(call.lastRequest().tools), /"web_search_2"/);
  await call.call(['web_search', { query: 'mine' }, 'c1']);
  assert.ok(!call.response.text().includes('server_tool_use'));
  assert.ok(call.response.writableEnded);
});

test('the failure, error or timeout of a tool is reported to the model, which continues', async () => {
  const runs = [
    () => Promise.reject(new Error('broken')),
    () => new Promise<never>(() => {}),
    () => Promise.resolve({ answer: 'Nothing.', sources: [], shown: { failed: true }, usage: {} }),
  ];
  for (const run of runs) {
    const call = await startLoop({ tools: [createFakeTool({ run })], settings: { runMsMax: 1 } });
    await call.call(['web_search', { query: 'cats' }, 'c1']);
    for (let turn = 0; turn < 10_000 && call.sent.length < 2; turn += 1) await new Promise((resolve) => setTimeout(resolve, 1));
    assert.equal(call.sent.length, 2);
    await call.say('I do not know.');
    assert.match(call.response.text(), /I do not know/);
    assert.ok(call.response.writableEnded);
  }
});

test('an upstream failure in a later round is a status before any output, and the dialect’s error after it', async () => {
  const early = await startLoop({ stream: false });
  await early.call(['web_search', { query: 'cats' }, 'c1']);
  await early.refuse(400);
  assert.equal(early.response.status, 400);
  const late = await startLoop();
  await late.call(['web_search', { query: 'cats' }, 'c1']);
  late.begin();
  late.data(late.delta({ content: 'Cats' }));
  await late.breakOff();
  assert.match(late.response.text(), /event: error/);
  assert.ok(late.response.writableEnded);
  assert.deepEqual(late.rows(), ['req_1 finished', 'req_1.1.tools finished', 'req_1.2 cut']);
});

test('a round that fails before any output is retried at another target, and nothing is shown twice', async () => {
  const call = await startLoop({ targets: ['a', 'b'] });
  await call.call(['web_search', { query: 'cats' }, 'c1']);
  call.begin();
  call.data(call.delta({ role: 'assistant', content: '' }));
  await call.breakOff();
  assert.equal(call.sent.at(-1)?.to, 'b');
  await call.say('Cats eat fish.');
  assert.equal(call.response.text().split('Cats eat fish.').length, 2);
  assert.equal(call.openings.at(-1)?.failedAttempts?.length, 1);
});

test('the last round offers no tools, and if it calls them anyway the reply ends', async () => {
  const call = await startLoop({ settings: { roundsMax: 2 } });
  await call.call(['web_search', { query: 'cats' }, 'c1']);
  assert.equal(call.lastRequest().tool_choice, 'none');
  await call.call(['web_search', { query: 'cats' }, 'c2']);
  assert.match(call.response.text(), /"stop_reason":"max_tokens"/);
  assert.equal(call.sent.length, 2);
});

test('a cost limit ends the reply after the current round', async () => {
  const call = await startLoop({ settings: { costMaxNanoUsd: 0n } });
  await call.call(['web_search', { query: 'cats' }, 'c1']);
  assert.equal(call.sent.length, 1);
  assert.match(call.response.text(), /"stop_reason":"max_tokens"/);
});

test('calls beyond the client’s limit are answered with the limit', async () => {
  const call = await startLoop({ runsMax: 1 });
  await call.call(['web_search', { query: 'one' }, 'c1'], ['web_search', { query: 'two' }, 'c2']);
  assert.match(JSON.stringify(call.lastRequest().messages), /limit of tool calls/);
  assert.equal(call.lastRequest().tool_choice, 'none');
});
