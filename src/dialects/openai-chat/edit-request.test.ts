import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { applyJsonEdits } from '../../platform/json/json-edits.ts';
import type { JsonObject } from '../../platform/json/json-value.ts';
import { editRequest } from './edit-request.ts';
import { readFacts } from './read-facts.ts';

function edit(text: string, upstreamModel = 'm', acceptsStreamOptions = true): string {
  const bytes = Buffer.from(text);
  const body = JSON.parse(text) as JsonObject;
  const fit = { requestedModel: body.model as string, upstreamModel, acceptsStreamOptions };
  return applyJsonEdits(bytes, editRequest({ operation: 'generate', body, headers: {} }, bytes, fit)).toString();
}

test('a stream always requests its usage', () => {
  assert.equal(edit('{"model":"m","stream":true}'), '{"stream_options":{"include_usage":true},"model":"m","stream":true}');
  assert.equal(edit(' \n{ "stream":true,"model":"m"}'), ' \n{"stream_options":{"include_usage":true}, "stream":true,"model":"m"}');
  assert.equal(
    edit('{"model":"m","stream":true,"stream_options": null }'),
    '{"model":"m","stream":true,"stream_options": {"include_usage":true} }',
  );
  assert.equal(
    edit('{"model":"m","stream":true,"stream_options":{ }}'),
    '{"model":"m","stream":true,"stream_options":{"include_usage":true }}',
  );
  assert.equal(
    edit('{"model":"m","stream":true,"stream_options":{"include_obfuscation":false}}'),
    '{"model":"m","stream":true,"stream_options":{"include_usage":true,"include_obfuscation":false}}',
  );
  for (const off of ['false', 'null']) {
    assert.equal(
      edit(`{"model":"m","stream":true,"stream_options":{"a":1,"include_usage":${off}}}`),
      '{"model":"m","stream":true,"stream_options":{"a":1,"include_usage":true}}',
    );
  }
});

test('usage is not requested twice, from servers that refuse it, or without a stream', () => {
  const requested = '{"model":"m","stream":true,"stream_options":{"include_usage":true}}';
  assert.equal(edit(requested), requested);
  assert.equal(edit('{"model":"m","stream":true}', 'm', false), '{"model":"m","stream":true}');
  assert.equal(edit('{"model":"m","stream":false}'), '{"model":"m","stream":false}');
  assert.equal(edit('{"model":"m"}'), '{"model":"m"}');
});

test('model and options are edited together', () => {
  assert.equal(edit('{"model":"a","stream":true}', 'b"'), '{"stream_options":{"include_usage":true},"model":"b\\"","stream":true}');
});

test('an edited body differs only in the two members', () => {
  const options = fc.option(fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 3 }), { nil: null });
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 4 }), options, fc.string(), (extra, streamOptions, model) => {
      const body = { ...extra, model: 'asked', stream: true, ...(streamOptions !== null && { stream_options: streamOptions }) };
      const edited: unknown = JSON.parse(edit(JSON.stringify(body, null, 1), model));
      assert.deepEqual(
        edited,
        JSON.parse(JSON.stringify({ ...body, model, stream_options: { ...body.stream_options, include_usage: true } })),
      );
    }),
    { numRuns: 200 },
  );
});

test('the facts of a request are read', () => {
  const facts = (body: JsonObject) => readFacts({ operation: 'generate', body: { model: 'm', messages: [], ...body }, headers: {} });
  assert.deepEqual(facts({}), { requestedModel: 'm', stream: false, inputCharacters: 0, needs: [] });
  assert.equal(facts({ stream: true }).stream, true);
  assert.equal(facts({ max_tokens: 10 }).outputTokensMax, 10);
  assert.equal(facts({ max_tokens: 10, max_completion_tokens: 20 }).outputTokensMax, 20);
  assert.equal(facts({ max_tokens: 10, max_completion_tokens: null }).outputTokensMax, 10);
});

test('the output limit applies to each choice', () => {
  const body = { model: 'm', messages: [], max_tokens: 10, n: 3 };
  assert.equal(readFacts({ operation: 'generate', body, headers: {} }).outputTokensMax, 30);
});

test('inline images and audio are not prompt text', () => {
  const content = [
    { type: 'image_url', image_url: { url: `data:image/png;base64,${'A'.repeat(10_000)}` } },
    { type: 'input_audio', input_audio: { data: 'A'.repeat(10_000), format: 'wav' } },
  ];
  const { inputCharacters } = readFacts({
    operation: 'generate',
    body: { model: 'm', messages: [{ role: 'user', content }] },
    headers: {},
  });
  assert.ok(inputCharacters < 100);
});
