import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { applyQuirks } from './apply-quirks.ts';
import { createModelTable } from './model-table.ts';
import { usualServerTraits } from './usual-server-traits.ts';
import { serverPresets } from './openai-compatible/server-presets.ts';

describe('quirks', () => {
  test('no quirk changes nothing, and the original traits are not modified', () => {
    const before = structuredClone(usualServerTraits);
    assert.deepEqual(applyQuirks(usualServerTraits, {}), usualServerTraits);
    applyQuirks(usualServerTraits, { prefill: true, systemRole: 'developer' });
    assert.deepEqual(usualServerTraits, before);
  });

  test('quirks of chat completions change the chat traits, others change the rest', () => {
    const traits = applyQuirks(usualServerTraits, { prefill: true, acceptsTopK: true, reasoningHistoryField: 'reasoning' });
    assert.deepEqual(traits, {
      ...usualServerTraits,
      prefill: true,
      chat: { ...usualServerTraits.chat, acceptsTopK: true, reasoningHistoryField: 'reasoning' },
    });
  });
});

describe('model tables', () => {
  const traitsOf = createModelTable(
    usualServerTraits,
    [
      { names: /^a-1/, differs: { outputTokensMax: 1 } },
      { names: /^a/, differs: { outputTokensMax: 2 } },
    ],
    (name) => name.replace(/^x\//, ''),
  );
  test('only the first matching rule applies; without a match, the usual traits do', () => {
    assert.deepEqual(
      ['a-1-mini', 'a-2', 'X/A-1', 'b', ''].map((name) => traitsOf(name).outputTokensMax),
      [1, 2, 1, undefined, undefined],
    );
  });
});

describe('presets', () => {
  test('only presets of servers with a ranking interface have one', () => {
    const ranking = Object.entries(serverPresets).flatMap(([name, { quirks }]) =>
      quirks.rerank === undefined ? [] : [[name, quirks.rerank]],
    );
    const servers = { vllm: 'vllm', 'llama-cpp': 'vllm', cohere: 'cohere', jina: 'jina', voyage: 'voyage' };
    assert.deepEqual(Object.fromEntries(ranking), { ...servers, litellm: 'cohere', weir: 'cohere' });
  });

  test('chats at Cohere, which refuses stream_options, are sent without it', () => {
    assert.equal(serverPresets['cohere']?.quirks.streamOptions, false);
  });

  for (const [name, preset] of Object.entries(serverPresets)) {
    test(`${name} has only quirks that differ from the usual traits, and a valid address`, () => {
      const usual: Readonly<Record<string, unknown>> = { ...usualServerTraits, ...usualServerTraits.chat };
      for (const [quirk, value] of Object.entries(preset.quirks)) assert.notDeepEqual(value, usual[quirk], quirk);
      if (preset.baseUrl === undefined) return;
      assert.equal(new URL(preset.baseUrl).protocol, 'https:');
      assert.ok(!preset.baseUrl.endsWith('/'));
    });
  }
});
