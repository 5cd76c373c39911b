import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import type { DialectId } from '../../src/dialects/dialect-id.ts';
import { startTranslationBench, type BenchReply, type TranslationBench } from './bench.ts';
import { translationClients } from './clients/clients.ts';
import type { Conversation, ClientView, SpokenPart, TranslationClient } from './conversation.ts';
import * as samples from './samples.ts';
import { receiveAs, upstreamDialects } from './upstreams/upstreams.ts';

/**
 * A conversation that goes from one vendor to another and back: neither gets the other's proofs, and each gets its own
 * back.
 */
let bench: TranslationBench;
before(async () => {
  bench = await startTranslationBench();
});
after(() => bench[Symbol.asyncDispose]());

type Asked = { readonly said: ClientView; readonly reply: BenchReply; readonly proofs: readonly string[] };

async function ask(client: TranslationClient, to: DialectId, conversation: Conversation, stream: boolean, calls: string): Promise<Asked> {
  const reply = await bench.send({ client, to, model: 'thinker', stream, conversation, steering: { 'tool-calls': calls } });
  const { answer, truth } = reply;
  assert.equal(answer.status, 200, `${to}: ${answer.text.slice(0, 500)} ${JSON.stringify(truth?.requestBody)?.slice(0, 1500)}`);
  assert.notEqual(truth?.ending, 'refused');
  const said = stream ? client.readStream(answer.text) : client.readWhole(answer.json);
  return { said, reply, proofs: receiveAs[to](truth?.requestBody).proofs };
}

const answersOf = (said: ClientView): readonly SpokenPart[] =>
  said.calls.map(({ id, name }): SpokenPart => ({ result: id, name, content: 'done' }));

/** The conversation so far, and the user's next message. */
function goOn(conversation: Conversation, said: ClientView, parts: readonly SpokenPart[]): Conversation {
  return {
    ...conversation,
    turns: [...conversation.turns, { role: 'assistant', parts: [], verbatim: said.turn }, { role: 'user', parts }],
  };
}

const opening: Conversation = {
  turns: [{ role: 'user', parts: ['What is the weather in Oslo?'] }],
  tools: [samples.weatherTool],
  thinking: { effort: 'medium' },
};

/** The proof of the reply as its vendor will recognise it. */
const isProven: readonly DialectId[] = ['anthropic-messages', 'openai-responses', 'gemini-generate-content'];

for (const client of translationClients) {
  describe(`a client of ${client.title}`, () => {
    for (const first of upstreamDialects) {
      for (const second of upstreamDialects) {
        if (first === second) continue;
        test(`a conversation goes from ${first} to ${second} and back`, async () => {
          for (const stream of [false, true]) {
            const one = await ask(client, first, opening, stream, '1');
            const asked = goOn(opening, one.said, answersOf(one.said));
            const two = await ask(client, second, asked, stream, '1');
            assert.deepEqual(two.proofs, [], 'no vendor gets proofs of another');
            const three = await ask(client, first, goOn(asked, two.said, answersOf(two.said)), stream, '0');
            assert.equal(three.proofs.length, isProven.includes(first) ? 1 : 0, 'a vendor gets its own proofs back, and no others');
          }
        });
      }
    }
  });
}
