import assert from 'node:assert/strict';
import { test } from 'node:test';

import { interfaces, modelKindNames } from '../inference/interfaces.ts';
import { openaiAudio } from './audio-service.ts';
import { openai } from './openai/openai.ts';
import { serverPresets } from './openai-compatible/server-presets.ts';
import { upstreamVendors } from './registry.ts';
import { applyServiceQuirks, servesKind } from './upstream-services.ts';

test("a quirk overrides the preset, and the vendor's service applies without a quirk", () => {
  assert.deepEqual(applyServiceQuirks(openai.services), openai.services);
  const base = upstreamVendors['openai-compatible'].services;
  const preset = applyServiceQuirks(base, serverPresets['vllm']?.quirks);
  assert.equal(preset.rerank, 'vllm');
  const own = applyServiceQuirks(preset, { rerank: 'jina', moderations: true, audio: { speech: '' } });
  assert.deepEqual([own.rerank, own.moderations, own.embeddings?.('m').path], ['jina', '/moderations', '/embeddings']);
  assert.deepEqual([own.audio?.speech, own.audio?.transcriptions], [undefined, '/audio/transcriptions']);
  assert.deepEqual(own.audio?.transcriptFormats, ['json', 'text', 'verbose_json']);
  assert.equal(applyServiceQuirks(openai.services, { moderations: false }).moderations, undefined);
});

test('a path that a preset removes can be set again', () => {
  const server = applyServiceQuirks({ audio: openaiAudio }, serverPresets['kokoro']?.quirks);
  assert.deepEqual([servesKind(server, 'speech'), servesKind(server, 'transcription')], [true, false]);
  assert.ok(servesKind(applyServiceQuirks(server, { audio: { translations: '/say-it' } }), 'transcription'));
});

test('an upstream with every service serves every kind of model, and an upstream with none serves only chats', () => {
  const everything = applyServiceQuirks(openai.services, { rerank: 'vllm' });
  for (const kind of modelKindNames) {
    assert.deepEqual([servesKind(everything, kind), servesKind({}, kind)], [true, kind === 'chat'], kind);
  }
});

test('no interface has the name of a chat dialect, because their rows share a column', () => {
  const dialects = Object.values(upstreamVendors).flatMap((vendor) => [...vendor.dialects, ...vendor.optionalDialects]);
  assert.deepEqual(
    dialects.filter((dialect) => Object.hasOwn(interfaces, dialect)),
    [],
  );
});
