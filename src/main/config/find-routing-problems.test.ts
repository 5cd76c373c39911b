import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { ConfigError, readConfig } from './read-config.ts';

const upstreams = `upstreams:
  a: { vendor: openai, apiKey: sk-secret }
  b: { vendor: anthropic }
  keys: { vendor: openai, apiKeys: [sk-secret, sk-other] }
`;
const read = (text: string): void => void readConfig({ text: `${upstreams}${text}`, file: 'weir.yaml', variable: () => undefined });
const model = (text: string): string => `models:\n  m: ${text}\n`;

/** The problems of a text, each as `line:column path: message`. */
function problems(text: string): readonly string[] {
  try {
    read(text);
  } catch (error) {
    assert.ok(error instanceof ConfigError, String(error));
    assert.doesNotMatch(error.message, /sk-/, 'no message shows a credential');
    return error.problems.map(({ line, column, path, message }) => `${line}:${column} ${path}: ${message}`);
  }
  return [];
}

describe('what is refused, where, and what is said to it', () => {
  for (const [name, text, expected] of [
    [
      'weight at a target that shares with none',
      model('{ targets: [{ upstream: a, weight: 2 }] }'),
      /^6:41 models\.m\.targets\.0\.weight: .*alone at priority 1; give it the same priority/,
    ],
    [
      'weight where the places in the list are the priorities',
      model('{ targets: [{ upstream: a }, { upstream: b, weight: 2 }] }'),
      /targets\.1\.weight: .*alone at priority 2/,
    ],
    [
      'weight of zero',
      model('{ targets: [{ upstream: a, weight: 0, priority: 1 }, { upstream: b, priority: 1 }] }'),
      /weight: must be at least 1, but got 0/,
    ],
    [
      'weight of a fraction',
      model('{ targets: [{ upstream: a, weight: 1.5, priority: 1 }, { upstream: b, priority: 1 }] }'),
      /weight: must be an integer/,
    ],
    [
      'too large a weight',
      model('{ targets: [{ upstream: a, weight: 1001, priority: 1 }, { upstream: b, priority: 1 }] }'),
      /weight: must be at most 1000/,
    ],
    [
      'a priority that meets a place by accident',
      model('{ targets: [{ upstream: a }, { upstream: b, priority: 1 }] }'),
      /targets\.0: its place in the list makes its priority 1.*targets\.1/,
    ],
    [
      'the same target twice',
      model('{ targets: [{ upstream: a }, { upstream: a, model: m }] }'),
      /targets\.1: this is the same as targets\.0/,
    ],
    [
      'the same conditions in another order',
      model('{ targets: [{ upstream: a, when: { images: true, tools: true } }, { upstream: a, when: { tools: true, images: true } }] }'),
      /the same as targets\.0/,
    ],
    [
      'bounds that no call is within',
      model('{ targets: [{ upstream: a, when: { inputTokensMin: 9, inputTokensMax: 8 } }] }'),
      /when\.inputTokensMin: no call has at least 9 and at most 8/,
    ],
    ['conditions without any', model('{ targets: [{ upstream: a, when: {} }] }'), /when: must have at least 1 member/],
    [
      'an unknown condition',
      model('{ targets: [{ upstream: a, when: { vision: true } }] }'),
      /when\.vision: is not a known field; there are: dialects, images, documents, audio, tools, stream, inputTokensMin, inputTokensMax$/,
    ],
    ['an unknown interface', model('{ targets: [{ upstream: a, when: { dialects: [chat] } }] }'), /when\.dialects\.0: .*openai-chat/],
    [
      'nothing to balance',
      model('{ balance: random, targets: [{ upstream: a }, { upstream: b }] }'),
      /balance: there is nothing to balance: give two targets the same priority/,
    ],
    ['an unknown balance', model('{ balance: round-robin, targets: [{ upstream: a }] }'), /balance: .*least-loaded/],
    [
      'a timeout that targets do not have',
      model('{ targets: [{ upstream: a, timeouts: { connectMs: 100 } }] }'),
      /timeouts\.connectMs: is not a known field/,
    ],
    [
      'both spellings of credentials',
      '  d: { vendor: openai, apiKey: sk-1, apiKeys: [sk-2] }\n',
      /upstreams\.d\.apiKeys: apiKey is set as well/,
    ],
    [
      'the same credential twice',
      '  d: { vendor: openai, apiKeys: [sk-1, sk-2, sk-1] }\n',
      /upstreams\.d\.apiKeys\.2: this is the same credential as apiKeys\.0/,
    ],
    ['no credential in the list of them', '  d: { vendor: openai, apiKeys: [] }\n', /apiKeys: must have at least 1 item/],
  ] as const) {
    test(name, () => {
      const found = problems(text);
      assert.equal(found.length, 1, found.join('\n'));
      assert.match(found[0] ?? '', expected);
    });
  }
});

describe('what is good', () => {
  for (const [name, text] of [
    ['targets that share', '{ balance: least-loaded, targets: [{ upstream: a, priority: 1, weight: 9 }, { upstream: b, priority: 1 }] }'],
    [
      'a fallback after them, by its place',
      '{ targets: [{ upstream: a, priority: 1 }, { upstream: b, priority: 1 }, { upstream: a, model: n }] }',
    ],
    ['credentials that share', '{ balance: random, targets: [{ upstream: keys }] }'],
    [
      'one place under two conditions',
      '{ targets: [{ upstream: a, when: { images: true }, timeouts: { totalMs: 900000 } }, { upstream: a, when: { images: false } }] }',
    ],
    ['bounds of a single number', '{ targets: [{ upstream: a, when: { inputTokensMin: 8, inputTokensMax: 8 } }] }'],
  ] as const) {
    test(name, () => assert.deepEqual(problems(model(text)), []));
  }
});
