import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { ConfigError } from './config-error.ts';
import { readConfig } from './read-config.ts';

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

describe('routing problems are refused with their position', () => {
  for (const [name, text, expected] of [
    [
      'weight at a target that is alone at its priority',
      model('{ targets: [{ upstream: a, weight: 2 }] }'),
      /^6:41 models\.m\.targets\.0\.weight: .*the only one at priority 1; set the priority/,
    ],
    [
      'weight if the positions in the list are the priorities',
      model('{ targets: [{ upstream: a }, { upstream: b, weight: 2 }] }'),
      /targets\.1\.weight: .*the only one at priority 2/,
    ],
    [
      'weight of zero',
      model('{ targets: [{ upstream: a, weight: 0, priority: 1 }, { upstream: b, priority: 1 }] }'),
      /weight: must be at least 1, but got 0/,
    ],
    [
      'a weight with a fraction',
      model('{ targets: [{ upstream: a, weight: 1.5, priority: 1 }, { upstream: b, priority: 1 }] }'),
      /weight: must be an integer/,
    ],
    [
      'too large a weight',
      model('{ targets: [{ upstream: a, weight: 1001, priority: 1 }, { upstream: b, priority: 1 }] }'),
      /weight: must be at most 1000/,
    ],
    [
      'a priority equal to the position of another target',
      model('{ targets: [{ upstream: a }, { upstream: b, priority: 1 }] }'),
      /targets\.0: its position in the list gives it priority 1.*targets\.1/,
    ],
    [
      'the same target twice',
      model('{ targets: [{ upstream: a }, { upstream: a, model: m }] }'),
      /targets\.1: must differ from targets\.0/,
    ],
    [
      'the same conditions in another order',
      model('{ targets: [{ upstream: a, when: { images: true, tools: true } }, { upstream: a, when: { tools: true, images: true } }] }'),
      /must differ from targets\.0/,
    ],
    [
      'a lower bound above the upper bound',
      model('{ targets: [{ upstream: a, when: { inputTokensMin: 9, inputTokensMax: 8 } }] }'),
      /when\.inputTokensMin: must be at most inputTokensMax, which is 8, but got 9/,
    ],
    ['empty conditions', model('{ targets: [{ upstream: a, when: {} }] }'), /when: must have at least 1 member/],
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
      'both apiKey and apiKeys',
      '  d: { vendor: openai, apiKey: sk-1, apiKeys: [sk-2] }\n',
      /upstreams\.d\.apiKeys: cannot be used together with apiKey/,
    ],
    [
      'the same credential twice',
      '  d: { vendor: openai, apiKeys: [sk-1, sk-2, sk-1] }\n',
      /upstreams\.d\.apiKeys\.2: must not repeat the credential of apiKeys\.0/,
    ],
    ['an empty list of credentials', '  d: { vendor: openai, apiKeys: [] }\n', /apiKeys: must have at least 1 item/],
  ] as const) {
    test(name, () => {
      const found = problems(text);
      assert.equal(found.length, 1, found.join('\n'));
      assert.match(found[0] ?? '', expected);
    });
  }
});

describe('valid routing is accepted', () => {
  for (const [name, text] of [
    ['targets that share', '{ balance: least-loaded, targets: [{ upstream: a, priority: 1, weight: 9 }, { upstream: b, priority: 1 }] }'],
    [
      'a fallback after them, by its position',
      '{ targets: [{ upstream: a, priority: 1 }, { upstream: b, priority: 1 }, { upstream: a, model: n }] }',
    ],
    ['credentials that share', '{ balance: random, targets: [{ upstream: keys }] }'],
    [
      'one place with two conditions',
      '{ targets: [{ upstream: a, when: { images: true }, timeouts: { totalMs: 900000 } }, { upstream: a, when: { images: false } }] }',
    ],
    ['equal bounds', '{ targets: [{ upstream: a, when: { inputTokensMin: 8, inputTokensMax: 8 } }] }'],
  ] as const) {
    test(name, () => assert.deepEqual(problems(model(text)), []));
  }
});
