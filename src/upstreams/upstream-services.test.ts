import assert from 'node:assert/strict';
import { test } from 'node:test';

import { interfaces, modelKindNames } from '../inference/interfaces.ts';
import { openaiAudio } from './audio-service.ts';
import { openai } from './openai/openai.ts';
import { serverPresets } from './openai-compatible/server-presets.ts';
import { upstreamVendors } from './registry.ts';
import { applyServiceQuirks, servesKind } from './upstream-services.ts';

test('what nothing is said of stays as the vendor has it, and what is said beats the preset', () => {
  assert.deepEqual(applyServiceQuirks(openai.services), openai.services);
  const base = upstreamVendors['openai-compatible'].services;
  const preset = applyServiceQuirks(base, serverPresets['vllm']?.quirks);
  assert.equal(preset.rerank, 'vllm');
  const own = applyServiceQuirks(preset, { rerank: 'jina', moderations: true, audio: { speech: '' } });
  assert.deepEqual([own.rerank, own.moderations, own.embeddings], ['jina', '/moderations', '/embeddings']);
  assert.deepEqual([own.audio?.speech, own.audio?.transcriptions], [undefined, '/audio/transcriptions']);
  assert.deepEqual(own.audio?.transcriptFormats, ['json', 'text', 'verbose_json']);
  assert.equal(applyServiceQuirks(openai.services, { moderations: false }).moderations, undefined);
});

test('a path that a preset takes away can be given back', () => {
  const server = applyServiceQuirks({ audio: openaiAudio }, serverPresets['kokoro']?.quirks);
  assert.deepEqual([servesKind(server, 'speech'), servesKind(server, 'transcription')], [true, false]);
  assert.ok(servesKind(applyServiceQuirks(server, { audio: { translations: '/say-it' } }), 'transcription'));
});

test('every kind of model is served by an upstream that offers everything, and but for chats by none that offers nothing', () => {
  const everything = applyServiceQuirks(openai.services, { rerank: 'vllm' });
  for (const kind of modelKindNames) {
    assert.deepEqual([servesKind(everything, kind), servesKind({}, kind)], [true, kind === 'chat'], kind);
  }
});

test('no interface is called as a chat dialect is, whose rows have its name too', () => {
  const dialects = Object.values(upstreamVendors).flatMap((vendor) => [...vendor.dialects, ...vendor.optionalDialects]);
  assert.deepEqual(
    dialects.filter((dialect) => Object.hasOwn(interfaces, dialect)),
    [],
  );
});
