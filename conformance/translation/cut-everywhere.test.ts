import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';

import type { ChatDialect, UpstreamDialect } from '../../src/dialects/chat-dialect.ts';
import { chatDialects, upstreamDialects } from '../../src/dialects/registry.ts';
import type { StreamFraming } from '../../src/platform/frames.ts';
import { translationClients } from './clients/clients.ts';
import { translateBody } from './translate-body.ts';

/**
 * Recorded streams of every dialect, translated to every other and cut after each byte: a cut stream never looks
 * complete, and chunk boundaries in a complete stream make no difference.
 */
type Fixture = { readonly name: string; readonly body: Buffer };

/** The recorded streams of a dialect that end normally. */
function readFixtures(dialect: UpstreamDialect): readonly Fixture[] {
  const folder = join(import.meta.dirname, '../../src/dialects', dialect.id, 'fixtures');
  const names = readdirSync(folder).flatMap((file) => (file.endsWith('.stream.sse') ? [file.slice(0, -'.stream.sse'.length)] : []));
  return names
    .filter((name) => (JSON.parse(readFileSync(join(folder, `${name}.expected.json`), 'utf8')) as { state?: string }).state === 'complete')
    .map((name) => ({ name, body: readFileSync(join(folder, `${name}.stream.sse`)) }));
}

/** Text that no client's stream contains before it is complete. */
const endMarks: Readonly<Record<ChatDialect['id'], RegExp>> = {
  'anthropic-messages': /"type":\s*"message_stop"/,
  'openai-responses': /"type":\s*"response\.(?:completed|incomplete)"/,
  'openai-chat': /\[DONE\]|"finish_reason":\s*"/,
  'gemini-generate-content': /"finishReason"|"blockReason"/,
};

const framingsOf = (dialect: ChatDialect): readonly StreamFraming[] =>
  dialect.id === 'gemini-generate-content' ? ['sse', 'json-array'] : ['sse'];

const chunkSizes = [...Array.from({ length: 24 }, (_, index) => index + 1), 61, 127, 512, 1000];

function translateInChunks(
  client: ChatDialect,
  upstream: UpstreamDialect,
  framing: StreamFraming,
  { body }: Fixture,
  chunkBytes: number,
): string {
  const translator = translateBody(client, upstream, framing);
  for (let at = 0; at < body.length; at += chunkBytes) translator.push(Buffer.from(body.subarray(at, at + chunkBytes)));
  translator.end();
  return translator.text();
}

for (const upstream of Object.values(upstreamDialects)) {
  for (const client of Object.values(chatDialects)) {
    if (client === upstream) continue;
    const reader = translationClients.find(({ dialect }) => dialect === client.id);
    for (const framing of framingsOf(client)) {
      describe(`${upstream.id} to ${client.id} as ${framing}`, () => {
        for (const fixture of readFixtures(upstream)) {
          const whole = translateInChunks(client, upstream, framing, fixture, fixture.body.length);
          if (fixture.name.startsWith('malformed')) {
            test(`${fixture.name}: text is missing, so it never looks complete`, () => assert.doesNotMatch(whole, endMarks[client.id]));
            continue;
          }

          test(`${fixture.name}: a complete stream ends as the client expects, and one cut after any byte does not`, () => {
            assert.match(whole, endMarks[client.id]);
            const translator = translateBody(client, upstream, framing);
            let checked = 0;
            for (let at = 0; at < fixture.body.length; at++) {
              translator.push(Buffer.from(fixture.body.subarray(at, at + 1)));
              if (translator.state() !== 'open') break;
              const text = translator.text();
              if (text.length === checked) continue;
              checked = text.length;
              assert.doesNotMatch(text, endMarks[client.id], `cut after byte ${at}`);
              assert.ok(whole.startsWith(text), `output up to byte ${at} stays`);
            }
          });

          test(`${fixture.name}: the bytes are the same for any chunk boundaries`, () => {
            for (const chunkBytes of chunkSizes) {
              assert.equal(translateInChunks(client, upstream, framing, fixture, chunkBytes), whole, `chunks of ${chunkBytes} bytes`);
            }
          });

          if (framing === 'sse' && reader !== undefined) {
            test(`${fixture.name}: a client of the other interface reads it`, () => void reader.readStream(whole));
          }
        }
      });
    }
  }
}
