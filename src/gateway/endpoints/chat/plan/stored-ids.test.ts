import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';

import type { DialectId } from '../../../../dialects/dialect-id.ts';
import type { JsonObject } from '../../../../platform/json/json-value.ts';
import { refuseStoredIds } from './plan-attempt.ts';

/** Every place in which a request names something that a vendor stores, with the field that the error names. */
const places: readonly (readonly [dialect: DialectId, body: JsonObject, param: string, name: string])[] = [
  ['gemini-generate-content', { cachedContent: 'cachedContents/abc' }, 'cachedContent', 'cachedContent'],
  [
    'gemini-generate-content',
    { contents: [{ parts: [{ text: 'x' }, { fileData: { fileUri: 'https://generativelanguage.googleapis.com/v1beta/files/abc' } }] }] },
    'contents[0].parts[1].fileData.fileUri',
    'fileData.fileUri',
  ],
  [
    'gemini-generate-content',
    { contents: [{ parts: [{ fileData: { fileUri: 'files/abc' } }] }] },
    'contents[0].parts[0].fileData.fileUri',
    'fileData.fileUri',
  ],
  [
    'gemini-generate-content',
    { tools: [{ fileSearch: { fileSearchStoreNames: ['fileSearchStores/abc'] } }] },
    'tools[0].fileSearch.fileSearchStoreNames',
    'fileSearch.fileSearchStoreNames',
  ],
  ['anthropic-messages', { container: 'container_abc' }, 'container', 'container'],
  ['anthropic-messages', { container: { id: 'container_abc' } }, 'container', 'container'],
  [
    'anthropic-messages',
    {
      container: {
        skills: [
          { type: 'anthropic', skill_id: 'pdf' },
          { type: 'custom', skill_id: 'skill_abc' },
        ],
      },
    },
    'container.skills.1.skill_id',
    'container.skills[].skill_id',
  ],
  ['openai-responses', { prompt: { id: 'pmpt_abc' } }, 'prompt.id', 'prompt.id'],
  ['openai-responses', { tools: [{ type: 'code_interpreter', container: 'cntr_abc' }] }, 'tools[0].container', 'tools[].container'],
  [
    'openai-responses',
    { tools: [{ type: 'shell', environment: { type: 'container_reference', container_id: 'cntr_abc' } }] },
    'tools[0].environment.container_id',
    'tools[].environment.container_id',
  ],
  ['openai-chat', { messages: [{ role: 'assistant', audio: { id: 'audio_abc' } }] }, 'messages[0].audio.id', 'messages[].audio.id'],
];

const harmless: readonly (readonly [dialect: DialectId, body: JsonObject])[] = [
  ['gemini-generate-content', { contents: [{ parts: [{ fileData: { fileUri: 'https://example.com/a.png' } }] }] }],
  ['anthropic-messages', { container: { skills: [{ type: 'anthropic', skill_id: 'pdf' }] } }],
  ['openai-responses', { tools: [{ type: 'code_interpreter', container: { type: 'auto' } }] }],
  [
    'openai-chat',
    {
      messages: [
        { role: 'assistant', audio: null },
        { role: 'user', content: 'x' },
      ],
      audio: { voice: 'alloy' },
    },
  ],
];

describe('A2: things that a vendor stores under the credential of all callers', () => {
  for (const [dialect, body, param] of places) {
    test(`${dialect}: ${param} is refused, because its owner is unknown`, () => {
      assert.throws(() => refuseStoredIds(dialect, body), { code: 'object_not_found', status: 400, param });
    });
  }

  for (const [dialect, body] of harmless) {
    test(`${dialect}: ${JSON.stringify(body)} passes`, () => refuseStoredIds(dialect, body));
  }

  test('each place is listed on the page that explains how it is treated', () => {
    const page = readFileSync(new URL('../../../../../docs/decisions/2026-11-23-stored-ids.md', import.meta.url), 'utf8');
    for (const [, , , name] of places) assert.ok(page.includes(`\`${name}\``), name);
  });
});
