import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { GatewayTool } from '../../../../tools/gateway-tool.ts';
import { createFakeTool, startLoop } from './testing/fake-loop.ts';
import { gatherAddresses } from './gather-addresses.ts';

const text = (words: string) => ({ kind: 'text', text: words }) as const;

test('the known addresses of a conversation are those that its client sent or a search found', () => {
  const knows = gatherAddresses({
    instructions: [text('Our site is https://ours.test/home.')],
    turns: [
      {
        role: 'user',
        parts: [text('Read https://asked.test/a'), { kind: 'media', media: 'file', source: { kind: 'url', url: 'https://file.test/f' } }],
      },
      {
        role: 'assistant',
        parts: [
          text('I could look at https://invented.test/?secret=1'),
          { kind: 'tool-call', id: 'c', name: 'f', arguments: '{"url":"https://argument.test/"}' },
          {
            kind: 'server-tool',
            tool: 'web-search',
            id: 's',
            input: ['https://query.test/'],
            results: [{ url: 'https://found.test/', text: 'and https://linked.test/' }],
            wire: [],
          },
        ],
      },
      { role: 'user', parts: [{ kind: 'tool-result', callId: 'c', content: [text('see https://result.test/x')], isError: false }] },
    ],
  });
  for (const address of [
    'https://ours.test/home',
    'https://asked.test/a',
    'https://file.test/f',
    'https://found.test/',
    'https://result.test/x',
  ])
    assert.ok(knows(address), address);
  for (const foreign of ['https://invented.test/?secret=1', 'https://argument.test/', 'https://query.test/', 'https://linked.test/'])
    assert.ok(!knows(foreign), foreign);
});

test('an address that a search of the same reply found may be read, and an invented one may not', async () => {
  const verdicts: boolean[] = [];
  const reader: GatewayTool = createFakeTool({
    kind: 'url-context',
    run: ({ arguments: args, knowsAddress }) => {
      verdicts.push(knowsAddress(typeof args.query === 'string' ? args.query : ''));
      return Promise.resolve({ answer: 'read', sources: [], shown: { results: [] }, usage: {} });
    },
  });
  const call = await startLoop({ tools: [createFakeTool(), reader] });
  await call.call(['url_context', { query: 'https://example.org/cats' }, 'c0']);
  await call.call(['web_search', { query: 'cats' }, 'c1']);
  await call.call(
    ['url_context', { query: 'https://example.org/cats' }, 'c2'],
    ['url_context', { query: 'https://example.org/cats?told=x' }, 'c3'],
  );
  assert.deepEqual(verdicts, [false, true, false]);
  await call.say('Done.');
  assert.ok(call.response.writableEnded);
});
