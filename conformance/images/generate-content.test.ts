import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { ApiError, type ContentListUnion, GoogleGenAI, type GenerateContentResponse } from '@google/genai';

import { runCommand } from '../programs/run-command.ts';
import { post } from '../support/http.ts';
import { type ImageWeir, kindOf, onePixel, startImageWeir } from './image-weir.ts';

let running: ImageWeir;
let client: GoogleGenAI;
before(async () => {
  running = await startImageWeir();
  client = new GoogleGenAI({ apiKey: running.weir.apiKey, httpOptions: { baseUrl: running.weir.gatewayUrl } });
});
after(() => running[Symbol.asyncDispose]());

const pictures = { responseModalities: ['TEXT', 'IMAGE'] };

function kindsIn({ candidates = [] }: GenerateContentResponse): readonly string[] {
  return candidates
    .flatMap(({ content }) => content?.parts ?? [])
    .flatMap(({ inlineData }) => (inlineData === undefined ? [] : [kindOf(inlineData.data)]));
}

/** The row of the call that made a reply, or a chunk of one. */
const rowOf = (reply: GenerateContentResponse | undefined) =>
  running.ledger.row(String(reply?.sdkHttpResponse?.headers?.['x-weir-request-id']));

describe('generate-content on models that make images and nothing else', () => {
  for (const { model, kind, upstream, form } of [
    { model: 'gpt-image-1.5', kind: 'png', upstream: 'openai', form: 'openai-images' },
    { model: 'grok-imagine-image', kind: 'jpeg', upstream: 'xai', form: 'xai-images' },
    { model: 'imagen-4.0-generate-001', kind: 'png', upstream: 'gemini', form: 'imagen-predict' },
  ])
    test(`${model}: the reply has an image part, and its receipt names the upstream interface`, async () => {
      const reply = await client.models.generateContent({ model, contents: 'a coast', config: pictures });
      assert.deepEqual(kindsIn(reply), [kind]);
      assert.equal(reply.candidates?.[0]?.finishReason, 'STOP');
      const row = await rowOf(reply);
      assert.deepEqual(
        [row.end, row.upstream, row.dialect, row.stream, row.estimated],
        ['finished', upstream, 'gemini-generate-content', false, false],
      );
      assert.ok(row.charge.amountNanoUsd > 0n);
      if (form === 'openai-images') {
        assert.equal(reply.usageMetadata?.candidatesTokenCount, row.usage.outputTokens);
        assert.equal(reply.usageMetadata?.promptTokenCount, row.usage.inputTokens);
        const images = reply.usageMetadata?.candidatesTokensDetails?.find(({ modality }) => modality === 'IMAGE');
        assert.equal(images?.tokenCount, row.usage.outputImageTokens);
      } else assert.deepEqual(row.usage, { outputImages: 1 });
      const receipt = await running.receipt(row.callId);
      assert.equal(receipt.json.rows[0].upstream_dialect, form);
    });

  test('a stream delivers the image, and the next turn of a chat edits it', async () => {
    const stream = await client.models.generateContentStream({ model: 'gpt-image-1.5', contents: 'a coast', config: pictures });
    const chunks = await Array.fromAsync(stream);
    assert.deepEqual(chunks.flatMap(kindsIn), ['png']);
    assert.deepEqual([(await rowOf(chunks[0])).stream, chunks.at(-1)?.candidates?.[0]?.finishReason], [true, 'STOP']);
    const chat = client.chats.create({ model: 'gpt-image-1.5', config: pictures });
    await chat.sendMessage({ message: 'a coast' });
    assert.deepEqual(kindsIn(await chat.sendMessage({ message: 'at night' })), ['png']);
    const edit = running.simulator.records().at(-1);
    assert.match(String(edit?.path), /images\/edits/);
  });

  test('an array stream is one JSON array', async () => {
    const path = `${running.weir.gatewayUrl}/v1beta/models/gpt-image-1.5:streamGenerateContent`;
    const body = { contents: [{ parts: [{ text: 'x' }] }], generation_config: { response_modalities: ['IMAGE'] } };
    const answer = await post(path, body, { 'x-goog-api-key': running.weir.apiKey });
    assert.deepEqual(
      [answer.status, answer.json.length, kindOf(answer.json[0].candidates[0].content.parts[0].inlineData.data)],
      [200, 1, 'png'],
    );
  });

  test('images, aspect ratios and counts are translated, and dropped settings are named in the warning header', async () => {
    const contents = [
      { role: 'user', parts: [{ inlineData: { mimeType: 'image/png', data: onePixel.toString('base64') } }, { text: 'bluer' }] },
    ];
    const config = {
      ...pictures,
      imageConfig: { aspectRatio: '3:2', imageSize: '2K' },
      candidateCount: 2,
      temperature: 0.5,
      systemInstruction: 'In oil.',
      tools: [{ googleSearch: {} }],
    };
    const reply = await client.models.generateContent({ model: 'grok-imagine-image', contents, config });
    assert.equal(kindsIn(reply).length, 2);
    const sent = running.simulator.records().at(-1);
    const body = sent?.requestBody as Record<string, unknown>;
    assert.deepEqual([body['n'], body['aspect_ratio'], body['resolution'], body['prompt']], [2, '3:2', '2k', 'In oil.\n\nbluer']);
    const warning = String(reply.sdkHttpResponse?.headers?.['x-gateway-warning']);
    for (const words of [/dropped \S*temperature/, /dropped tools/, /adapted systemInstruction/]) assert.match(warning, words);
    const strict = { ...config, httpOptions: { headers: { 'x-weir-strict': 'true' } } };
    await assert.rejects(
      client.models.generateContent({ model: 'grok-imagine-image', contents, config: strict }),
      isRefusal(400, /temperature|tools/),
    );
  });

  test('an untranslatable request is refused with its field, and nothing is spent', async () => {
    const before = running.simulator.records().length;
    const ask = (contents: ContentListUnion, config: object) => client.models.generateContent({ model: 'gpt-image-1.5', contents, config });
    await assert.rejects(ask([{ parts: [{ text: ' ' }] }], pictures), isRefusal(400, /describes the image/));
    await assert.rejects(ask('x', { responseModalities: ['IMAGE', 'AUDIO'] }), isRefusal(400, /AUDIO/));
    await assert.rejects(ask('x', { ...pictures, imageConfig: { imageSize: 'huge' } }), isRefusal(400, /imageConfig.imageSize/));
    await assert.rejects(
      ask([{ parts: [{ inlineData: { mimeType: 'application/pdf', data: 'AAAA' } }, { text: 'x' }] }], pictures),
      isRefusal(400, /input other than text and images/),
    );
    await assert.rejects(ask('x', {}), isRefusal(400, /makes images/));
    assert.equal(running.simulator.records().length, before);
  });

  test('a call costs no more than its quote', async () => {
    const body = { contents: [{ parts: [{ text: 'a coast' }] }], generationConfig: { responseModalities: ['IMAGE'] } };
    const headers = { authorization: `Bearer ${running.weir.apiKey}` };
    const path = '/v1beta/models/gpt-image-1.5:generateContent';
    const quote = await post(`${running.weir.gatewayUrl}/v1/quote`, { path, body }, headers);
    assert.equal(quote.status, 200, quote.text);
    const created = await post(`${running.weir.gatewayUrl}${path}`, body, headers);
    assert.equal(created.status, 200);
    const { charge } = await running.ledger.row(String(created.headers['x-weir-request-id']));
    assert.ok(BigInt(quote.json.maximum.nano_usd) >= charge.amountNanoUsd && charge.amountNanoUsd > 0n, quote.text);
  });

  test('a call beyond the spend limit of its key is refused before the upstream is called', async () => {
    const command = ['keys', 'create', '--user', 'poor', '--name', 'images', '--spend-total', '0.001'];
    const { stdout } = await runCommand(command, { WEIR_DATA_DIR: running.weir.dataDirectory });
    const poor = new GoogleGenAI({ apiKey: stdout.trim(), httpOptions: { baseUrl: running.weir.gatewayUrl } });
    const before = running.simulator.records().length;
    await assert.rejects(
      poor.models.generateContent({ model: 'gpt-image-1.5', contents: 'a coast', config: pictures }),
      isRefusal(429, /spend/),
    );
    assert.equal(running.simulator.records().length, before);
  });

  test('moderation is an error that says so', async () => {
    const config = { ...pictures, httpOptions: { headers: { 'x-simulator-stop': 'refusal' } } };
    await assert.rejects(client.models.generateContent({ model: 'gpt-image-1.5', contents: 'x', config }), isRefusal(400, /./));
  });
});

test('a model of native images answers itself: its bytes pass, and its images are metered and priced', async () => {
  const model = 'gemini-2.5-flash-image';
  for (const stream of [false, true]) {
    const asked = { model, contents: 'a coast', config: pictures };
    const replies = stream
      ? await Array.fromAsync(await client.models.generateContentStream(asked))
      : [await client.models.generateContent(asked)];
    assert.deepEqual(replies.flatMap(kindsIn), ['png']);
    const row = await rowOf(replies[0]);
    assert.deepEqual([row.end, row.upstream, row.translation, row.estimated], ['finished', 'gemini', undefined, false]);
    const reported = replies.at(-1)?.usageMetadata?.candidatesTokensDetails?.find(({ modality }) => modality === 'IMAGE');
    assert.ok((row.usage.outputImageTokens ?? 0) > 0);
    assert.equal(reported?.tokenCount, row.usage.outputImageTokens);
    assert.ok(
      row.charge.lines.some(({ meter }) => meter === 'output_image'),
      JSON.stringify(row.charge.lines.map(({ meter }) => meter)),
    );
  }
});

function isRefusal(status: number, words: RegExp): (error: unknown) => true {
  return (error) => {
    assert.ok(error instanceof ApiError, String(error));
    assert.equal(error.status, status, error.message);
    assert.match(error.message, words);
    return true;
  };
}
