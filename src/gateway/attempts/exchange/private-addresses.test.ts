import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import type { DialectId } from '../../../dialects/dialect-id.ts';
import { chatDialects } from '../../../dialects/registry.ts';
import { addressMembers } from '../../../dialects/request-survey.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { refusePrivateAddresses } from './private-addresses.ts';

const places: readonly (readonly [param: string, bodyWith: (url: string) => JsonObject, dialect?: DialectId])[] = [
  [
    'messages.0.content.0.source.url',
    (url) => ({ messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'url', url } }] }] }),
    'anthropic-messages',
  ],
  [
    'messages.0.content.0.content.1.source.url',
    (url) => ({
      messages: [{ content: [{ type: 'tool_result', content: [{ type: 'text' }, { type: 'document', source: { type: 'url', url } }] }] }],
    }),
    'anthropic-messages',
  ],
  ['messages[1].content[0].image_url.url', (url) => ({ messages: [{ content: 'x' }, { content: [{ image_url: { url } }] }] })],
  ['messages[0].content[0].image_url', (url) => ({ messages: [{ content: [{ type: 'image_url', image_url: url }] }] })],
  ['messages[0].content[0].video_url.url', (url) => ({ messages: [{ content: [{ type: 'video_url', video_url: { url } }] }] })],
  ['messages[0].content[0].file.file_data', (url) => ({ messages: [{ content: [{ type: 'file', file: { file_data: url } }] }] })],
  ['input[0].content[0].file_data', (url) => ({ input: [{ content: [{ type: 'input_file', file_data: url }] }] })],
  ['input[0].content[0].image_url', (url) => ({ input: [{ content: [{ type: 'input_image', image_url: url }] }] })],
  ['input[0].content[0].file_url', (url) => ({ input: [{ content: [{ type: 'input_file', file_url: url }] }] })],
  ['input[0].output[0].image_url', (url) => ({ input: [{ type: 'function_call_output', output: [{ image_url: url }] }] })],
  ['input[0].output.image_url', (url) => ({ input: [{ type: 'computer_call_output', output: { image_url: url } }] })],
  ['tools[0].input_image_mask.image_url', (url) => ({ tools: [{ type: 'image_generation', input_image_mask: { image_url: url } }] })],
  ['contents[0].parts[0].fileData.fileUri', (url) => ({ contents: [{ parts: [{ fileData: { fileUri: url } }] }] })],
  ['contents.parts.file_data.file_uri', (url) => ({ contents: { parts: { file_data: { file_uri: url } } } })],
  [
    'contents[0].parts[0].functionResponse.parts[0].fileData.fileUri',
    (url) => ({ contents: [{ parts: [{ functionResponse: { parts: [{ fileData: { fileUri: url } }] } }] }] }),
  ],
];

const privateAddresses = [
  'http://127.0.0.1/a.png',
  'https://10.1.2.3/a.png',
  'http://169.254.169.254/latest/meta-data/',
  'http://2130706433/a.png',
  'http://0x7f.1/a.png',
  'http://[::1]/a.png',
  'http://[::ffff:169.254.169.254]/a.png',
  'http://localhost:8080/a.png',
  'http://LOCALHOST./a.png',
  'http://metadata.google.internal/',
  'http://redis/a.png',
  'http://api.default.svc/a.png',
  ' http://192.168.0.1/a.png',
  'http:\\\\192.168.0.1\\a.png',
  'file:///etc/passwd',
];

const allowed = [
  'https://example.com/a.png',
  'https://93.184.216.34/a.png',
  'https://[2606:2800:220:1:248:1893:25c8:1946]/a.png',
  'https://internal.example.com/a.png',
  'data:image/png;base64,aGVsbG8=',
  'gs://bucket/object',
  'https://example.com/?next=http://127.0.0.1/',
];

describe('media in private networks are refused', () => {
  for (const [param, bodyWith, dialect = 'openai-chat'] of places)
    test(`${param}: a private address is refused with the name of the field, a public one passes`, () => {
      for (const url of privateAddresses)
        assert.throws(
          () => refusePrivateAddresses(dialect, bodyWith(url)),
          (error: unknown) => error instanceof GatewayError && error.code === 'invalid_value' && error.message.includes(`'${param}'`),
          url,
        );
      for (const url of allowed) assert.doesNotThrow(() => refusePrivateAddresses(dialect, bodyWith(url)), url);
    });

  test('addresses in arguments and results of functions, in texts and in metadata are text', () => {
    const url = 'http://127.0.0.1/a.png';
    const harmless: readonly JsonObject[] = [
      { messages: [{ content: [{ type: 'tool_use', input: { image_url: url, source: { url } } }] }] },
      { messages: [{ content: url }, { content: [{ type: 'text', text: url }] }] },
      { input: url, metadata: { image_url: url } },
      { contents: [{ parts: [{ functionCall: { args: { fileUri: url } } }, { functionResponse: { response: { fileUri: url } } }] }] },
      { tools: [{ type: 'function', parameters: { properties: { image_url: { default: url } } } }] },
    ];
    for (const body of harmless) assert.doesNotThrow(() => refusePrivateAddresses('openai-chat', body), JSON.stringify(body));
  });

  test('a deeply nested request ends the search', () => {
    let content: JsonObject = { image_url: 'https://example.com/a.png' };
    for (let depth = 0; depth < 10_000; depth += 1) content = { content: [content] };
    assert.doesNotThrow(() => refusePrivateAddresses('openai-chat', { messages: [content] }));
  });
});

test('the survey of a request that is not parsed looks at every member that may hold an address', () => {
  const surveyed: ReadonlySet<string> = new Set(addressMembers);
  const missed = Object.values(chatDialects).flatMap(({ mediaMembers }) => mediaMembers.addresses.filter((name) => !surveyed.has(name)));
  assert.deepEqual(missed, []);
});
