import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import { runCommand } from '../programs/run-command.ts';
import { eventually } from '../support/http.ts';
import { chatInterfaces } from '../support/interfaces.ts';
import { filesBelow, readIfThere } from '../support/read-files.ts';
import type { Mode } from './fault-bench.ts';
import { answers, type ScriptedWeir, startScriptedWeir } from './translated-bench.ts';

const chat = chatInterfaces.find(({ dialect }) => dialect === 'openai-chat');
assert.ok(chat);
const mode: Mode = { title: 'chat', api: chat, stream: false };

const signature = 'c2lnbmF0dXJlLW9mLXRoaW5raW5n';
const thoughts = 'private-thoughts-of-the-model';

/** A reply of the Messages interface with thinking and a call. */
const thinkingCall = JSON.stringify({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [
    { type: 'thinking', thinking: thoughts, signature },
    { type: 'tool_use', id: 'toolu_shared', name: 'look', input: {} },
  ],
  stop_reason: 'tool_use',
  stop_sequence: null,
  usage: { input_tokens: 10, output_tokens: 20 },
});

const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object', properties: {} } } }];
/** The conversation of a client that has dropped the reasoning. */
const goingOn = {
  tools,
  messages: [
    { role: 'user', content: 'Look' },
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'toolu_shared', type: 'function', function: { name: 'look', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: 'toolu_shared', content: 'seen' },
  ],
};

/** Proofs of reasoning that the gateway stores for clients that drop them. */
describe('stored proofs', () => {
  let bench: ScriptedWeir;
  let stranger: string;
  before(async () => {
    bench = await startScriptedWeir();
    const created = await runCommand(['keys', 'create', '--user', 'stranger', '--name', 'one'], {
      WEIR_DATA_DIR: bench.weir.dataDirectory,
      WEIR_CONFIG: join(bench.weir.dataDirectory, 'weir.yaml'),
    });
    assert.equal(created.code, 0, created.stderr);
    stranger = created.stdout.trim();
  });
  after(() => bench[Symbol.asyncDispose]());

  /** The upstream's request when the conversation continues. */
  async function sentOn(headers: Readonly<Record<string, string>> = {}): Promise<string | undefined> {
    let got: string | undefined;
    const reply = await bench.send(
      mode,
      'anthropic-messages',
      (response, body, request) => {
        got = body;
        answers(200, 'application/json', thinkingCall.replaceAll('toolu_shared', 'toolu_next'))(response, body, request);
      },
      { body: { ...goingOn, reasoning_effort: 'low' }, headers },
    );
    if (reply.status === 401) return undefined;
    assert.equal(reply.status, 200, reply.text);
    return got;
  }

  test('they are sent back to the vendor for the user whose call made them, and for no other user who knows the id', async () => {
    const first = await bench.send(mode, 'anthropic-messages', answers(200, 'application/json', thinkingCall), { body: { tools } });
    assert.equal(first.status, 200, first.text);
    assert.ok((await sentOn())?.includes(signature), 'the owner has the proof back');
    // A new key is known within seconds.
    const others = await eventually(
      () => sentOn({ authorization: `Bearer ${stranger}` }),
      (got) => got !== undefined,
    );
    assert.doesNotMatch(others ?? '', new RegExp(`${signature}|${thoughts}`));
    assert.ok((await sentOn())?.includes(signature), 'and still has it');
  });

  test('they are never in clear text: not in files, not in the output', async () => {
    const directory = bench.weir.dataDirectory;
    await new Promise((resolve) => setTimeout(resolve, 300));
    const files = filesBelow(directory);
    assert.ok(files.some((path) => path.endsWith('weir.sqlite')));
    for (const path of files) {
      const bytes = readIfThere(path);
      for (const secret of [signature, thoughts, 'toolu_shared']) assert.ok(!bytes.includes(secret), `${secret} is in ${path}`);
    }
    for (const secret of [signature, thoughts]) assert.ok(!bench.weir.output().includes(secret));
  });
});
