import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import type { InferenceEvent } from '../../../../inference/inference-event.ts';
import type { InferenceRequest, MediaPart, Part, Turn } from '../../../../inference/inference-request.ts';
import { createTranslationNotes, type FieldNames } from '../../../../inference/translation-notes.ts';
import { FetchMediaError } from '../../../../platform/http/fetch-media.ts';
import { upstreamVendors } from '../../../../upstreams/registry.ts';
import type { VaultedTurn } from '../proofs/vaulted-turn.ts';
import { createProofCollector, restoreProofs } from './turn-proofs.ts';
import { inlineMedia } from './inline-media.ts';
import { translationHeaders } from '../../../replies/write-reply.ts';

const request = (...turns: Turn[]): InferenceRequest => ({
  model: 'm',
  stream: false,
  instructions: [],
  turns,
  tools: [],
  sampling: {},
  vendorFields: [],
});

describe('the warning header', () => {
  const note = (field: string) => ({ kind: 'dropped' as const, field, reason: 'nobody there has it' });
  test('the warning header has one entry for each note, and is absent without notes', () => {
    assert.deepEqual(translationHeaders([]), {});
    assert.deepEqual(translationHeaders([note('top_k'), { kind: 'emulated', field: 'stop', reason: 'cut here, in the gateway' }]), {
      'x-gateway-warning': 'dropped top_k (nobody there has it), emulated stop (cut here; in the gateway)',
    });
  });
  test('a note cannot end the header', () => {
    const header = translationHeaders([note('a\r\nset-cookie: x'), note('😀')])['x-gateway-warning'] ?? '';
    assert.match(header, /^[\x20-\x7e]+$/);
  });
  test('the warning header is bounded and counts the notes that it omits', () => {
    const header = translationHeaders(Array.from({ length: 32 }, (_, at) => note('x'.repeat(200) + at)))['x-gateway-warning'] ?? '';
    assert.ok(header.length < 2100);
    assert.match(header, /and \d+ more$/);
  });
});

describe('proofs that a client drops', () => {
  const reasoning = { kind: 'reasoning' as const, text: ['hm'], proof: { origin: 'one', blob: 'sig' } };
  const call: Part = { kind: 'tool-call', id: 'c1', name: 'f', arguments: '{}' };
  const vaulted: VaultedTurn = { callIds: ['c1'], reasoning: [reasoning], callProofs: new Map([['c1', { origin: 'one', blob: 'call' }]]) };
  const vault = { recall: (user: string) => Promise.resolve(new Map(user === 'alice' ? [['c1', vaulted]] : [])) };
  const history = request({ role: 'user', parts: [{ kind: 'text', text: 'q' }] }, { role: 'assistant', parts: [call] });

  test('dropped proofs are restored before the calls, byte for byte', async () => {
    const { turns } = await restoreProofs(history, 'alice', vault, 'one');
    assert.deepEqual(turns[1]?.parts, [reasoning, { ...call, proof: { origin: 'one', blob: 'call' } }]);
  });
  test('proofs are not sent to another vendor', async () => {
    const { turns } = await restoreProofs(history, 'alice', vault, 'two');
    assert.deepEqual(turns[1]?.parts, [call]);
  });
  test('proofs are not given to another user', async () => assert.deepEqual(await restoreProofs(history, 'bob', vault, 'one'), history));
  test('the vault is not read if the client sent its own proofs', async () => {
    const own = request({ role: 'assistant', parts: [{ ...reasoning, proof: { origin: 'one', blob: 'own' } }, call] });
    assert.equal(await restoreProofs(own, 'alice', vault, 'one'), own);
  });
  test('proofs replace reasoning that the client sent without them', async () => {
    const bare = request({ role: 'assistant', parts: [{ kind: 'reasoning', text: ['hm'] }, call] });
    const { turns } = await restoreProofs(bare, 'alice', vault, 'one');
    assert.deepEqual(
      turns[0]?.parts.map((part) => part.kind),
      ['reasoning', 'tool-call'],
    );
  });
  test('proofs are collected from a reply while it streams', () => {
    const collector = createProofCollector();
    const events: readonly InferenceEvent[] = [
      { type: 'block-started', index: 0, block: { kind: 'reasoning' } },
      { type: 'delta', index: 0, text: 'h' },
      { type: 'delta', index: 0, text: 'm' },
      { type: 'proof', index: 0, proof: { origin: 'one', blob: 'sig' } },
      { type: 'block-ended', index: 0 },
      { type: 'block-started', index: 1, block: { kind: 'tool-call', id: 'c1', name: 'f' } },
      { type: 'proof', index: 1, proof: { origin: 'one', blob: 'call' } },
      { type: 'block-ended', index: 1 },
    ];
    for (const event of events.slice(0, 5)) collector.push(event);
    assert.equal(collector.collected(), undefined, 'without a call nothing would be missed');
    for (const event of events.slice(5)) collector.push(event);
    assert.deepEqual(collector.collected(), vaulted);
  });
});

describe('media that are named by their address', () => {
  const image: MediaPart = {
    kind: 'media',
    media: 'image',
    source: { kind: 'url', url: 'https://images.example/1.png' },
    path: 'messages.0.content.1',
  };
  const document: MediaPart = { ...image, media: 'file' };
  const notes = () => createTranslationNotes({ turns: 'messages' } as FieldNames, false);
  const fetched = { mediaType: 'image/png', bytes: Buffer.from('png') };
  const traits = upstreamVendors['openai-compatible'].traitsOf('m');
  const inline = (part: Part, fetchesUrls: boolean, fetchMedia = () => Promise.resolve(fetched)) =>
    inlineMedia(request({ role: 'user', parts: [part] }), {
      dialect: 'openai-chat',
      traits: { ...traits, fetchesUrls },
      fetchMedia,
      hasLeft: () => false,
      notes: notes(),
    });
  const sourceOf = ({ turns }: InferenceRequest) => {
    const [part] = turns[0]?.parts ?? [];
    const media = part?.kind === 'tool-result' ? part.content[0] : part;
    return media?.kind === 'media' ? media.source.kind : undefined;
  };

  test('media are left to an upstream that fetches them', async () => assert.equal(sourceOf(await inline(image, true)), 'url'));
  test('media are fetched for an upstream that does not fetch, in tool results too', async () => {
    assert.equal(sourceOf(await inline(image, false)), 'inline');
    const result: Part = { kind: 'tool-result', callId: 'c', content: [image], isError: false };
    assert.equal(sourceOf(await inline(result, false)), 'inline');
  });
  test('a document is fetched if the dialect has no field for its address', async () =>
    assert.equal(sourceOf(await inline(document, true)), 'inline'));
  test('media that cannot be fetched are a 400 that names the field', async () => {
    const refuse = () => Promise.reject(new FetchMediaError('refused', 'the server of the URL answered 404'));
    await assert.rejects(inline(image, false, refuse), { code: 'invalid_value', status: 400, param: 'messages.0.content.1' });
  });
});
