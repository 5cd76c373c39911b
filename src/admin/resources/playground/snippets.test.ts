import assert from 'node:assert/strict';
import { test } from 'node:test';

import { writeSnippets } from './snippets.ts';

const address = 'http://127.0.0.1:8080';
const write = (target: string, body: Record<string, unknown> | undefined, method = 'POST') => {
  const written = writeSnippets({ address, method, target, body }) ?? assert.fail(target);
  return { ...written, curl: written.curl ?? assert.fail('every request has a line of curl') };
};

test('a message is written for curl and for the SDKs of its vendor', () => {
  const { curl, python, typescript } = write('/v1/messages', {
    model: 'claude-sonnet-4-5',
    max_tokens: 100,
    messages: [{ role: 'user', content: "It's “é”" }],
    stream: true,
  });
  assert.equal(
    curl,
    String.raw`curl -sSN 'http://127.0.0.1:8080/v1/messages' \
  -H "x-api-key: $WEIR_API_KEY" \
  -H 'anthropic-version: 2023-06-01' \
  -H 'content-type: application/json' \
  -d '{"model":"claude-sonnet-4-5","max_tokens":100,"messages":[{"role":"user","content":"It'\''s “é”"}],"stream":true}'`,
  );
  assert.equal(
    python,
    `import os

from anthropic import Anthropic

client = Anthropic(base_url="http://127.0.0.1:8080", api_key=os.environ["WEIR_API_KEY"])
for event in client.messages.create(
    model="claude-sonnet-4-5",
    max_tokens=100,
    messages=[
        {
            "role": "user",
            "content": "It's “é”",
        },
    ],
    stream=True,
):
    print(event)
`,
  );
  assert.equal(
    typescript,
    `import Anthropic from '@anthropic-ai/sdk';

const client = new Anthropic({ baseURL: "http://127.0.0.1:8080", apiKey: ${['process', 'env', 'WEIR_API_KEY'].join('.')} });
for await (const event of await client.messages.create({
  model: "claude-sonnet-4-5",
  max_tokens: 100,
  messages: [
    {
      "role": "user",
      "content": "It's “é”"
    }
  ],
  stream: true,
})) console.log(event);
`,
  );
});

test('a message of a WebSocket is written for websocat and for clients that speak one', () => {
  const message = { type: 'response.create', model: 'gpt-5-mini', input: "It's me", store: false };
  const { curl, websocat, go, python, typescript } =
    writeSnippets({ address, method: 'POST', target: '/v1/responses', body: message, isMessage: true }) ?? assert.fail();
  assert.deepEqual([curl, go], [undefined, undefined]);
  assert.equal(
    websocat,
    String.raw`echo '{"type":"response.create","model":"gpt-5-mini","input":"It'\''s me","store":false}' \
  | websocat -n -B 67108864 -H "authorization: Bearer $WEIR_API_KEY" 'ws://127.0.0.1:8080/v1/responses'`,
  );
  assert.match(typescript ?? '', /new ResponsesWS\(client\);/);
  assert.match(typescript ?? '', /socket\.send\(\{\n {2}"type": "response\.create",/);
  assert.match(python ?? '', /with connect\("ws:\/\/127\.0\.0\.1:8080\/v1\/responses", additional_headers=headers/);
});

test('the settings of generate-content are its config; names that Python cannot write are in a dictionary', () => {
  const body = { contents: [], generationConfig: { maxOutputTokens: 5 }, systemInstruction: { parts: [] } };
  const { curl, python, typescript } = write('/v1beta/models/gemini-2.5-flash:generateContent', body);
  assert.match(
    typescript ?? '',
    /client\.models\.generateContent\(\{\n {2}model: "gemini-2.5-flash",\n {2}contents: \[\],\n {2}config: \{/,
  );
  assert.match(python ?? '', /client\.models\.generate_content\(\n {4}model="gemini-2.5-flash",/);
  assert.match(python ?? '', /"maxOutputTokens": 5,/);
  assert.match(curl, /-H "authorization: Bearer \$WEIR_API_KEY"/);
  const odd = write('/v1/responses', { model: 'x', 'a-b': null, from: true }).python ?? '';
  assert.match(odd, /\*\*\{\n {8}"a-b": None,\n {8}"from": True,\n {4}\},/);
});

test('forms name their files, sounds are written to one, and other paths have curl alone', () => {
  const form = write('/v1/audio/transcriptions', { file: 'a b.mp3', model: 'whisper-1', stream: false });
  assert.match(form.curl, /-F 'file=@a b\.mp3' \\\n {2}-F 'model=whisper-1' \\\n {2}-F 'stream=false'$/);
  assert.match(form.typescript ?? '', /file: createReadStream\("a b\.mp3"\),/);
  assert.match(form.python ?? '', /client\.audio\.transcriptions\.create\(\n {4}file=open\("a b\.mp3", "rb"\),/);
  assert.match(write('/v1/audio/speech', { model: 'tts-1' }).python ?? '', /\)\.write_to_file\("speech\.audio"\)/);
  const other = write('/v1/files/file_1?limit=2', undefined, 'DELETE');
  assert.deepEqual([other.python, other.typescript], [undefined, undefined]);
  assert.match(other.curl, /^curl -sS 'http:\/\/127\.0\.0\.1:8080\/v1\/files\/file_1\?limit=2' \\\n {2}-X DELETE \\/);
});

test('no secret of the address gets into the lines, and no path leads out of the gateway', () => {
  for (const lines of Object.values(write('/v1/messages?key=sk-weir-1&beta=true', { model: 'x' })))
    assert.ok(!String(lines).includes('sk-weir'), String(lines));
  for (const target of ['v1/messages', '/v1/../health', '//evil', '/v1/a b', "/v1/'; rm -rf", '/v1/$(id)\n'])
    assert.equal(writeSnippets({ address, method: 'GET', target, body: undefined }), undefined, target);
});

test('Go sends the JSON as it is, in a raw string unless it has a backquote', () => {
  const { go = '' } = write('/v1/messages', { model: 'claude-sonnet-4-5', max_tokens: 5, messages: [] });
  assert.match(go, /^package main\n\nimport \(\n\t"fmt"\n\t"io"\n\t"net\/http"\n\t"os"\n\t"strings"\n\)/);
  assert.match(go, /http\.NewRequest\("POST", "http:\/\/127\.0\.0\.1:8080\/v1\/messages", strings\.NewReader\(`\{\n {2}"model": /);
  assert.match(go, /request\.Header\.Set\("x-api-key", os\.Getenv\("WEIR_API_KEY"\)\)\n\trequest\.Header\.Set\("anthropic-version"/);
  assert.match(write('/v1/responses', { input: '`x`' }).go ?? '', /strings\.NewReader\("\{\\n {2}\\"input\\": \\"`x`\\"\\n\}"\)/);
  const other = write('/v1/files/file_1', undefined, 'DELETE').go ?? '';
  assert.match(other, /http\.NewRequest\("DELETE", "[^"]+", nil\)/);
  assert.doesNotMatch(other, /strings|content-type/);
  assert.equal(write('/v1/audio/transcriptions', { file: 'a.mp3', model: 'whisper-1' }).go, undefined);
});
