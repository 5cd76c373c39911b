import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { InferenceEvent } from '../../../../inference/inference-event.ts';
import { readToolCall, type ToolReturn } from './run-tools.ts';
import { showTools } from './show-tools.ts';
import { createFakeTool } from './testing/fake-loop.ts';

test('an unfinished image is shown in the block of its call, and waits until that begins', async () => {
  const tool = createFakeTool({ kind: 'image-generation' });
  const call = (id: string) => readToolCall({ kind: 'tool-call', id, name: 'image_generation', arguments: '{}' }, tool);
  const events: InferenceEvent[] = [];
  const first = Promise.withResolvers<ToolReturn>();
  const image = { mediaType: 'image/png', data: 'AAAA', settings: {} };
  const result: ToolReturn = {
    outcome: { answer: '', sources: [], shown: {}, usage: {} },
    result: { kind: 'tool-result', callId: 'c', content: [], isError: false },
  };
  let next = 0;
  const shown = showTools({
    calls: [call('a'), call('b')],
    run: (onPartialImage) => {
      onPartialImage(1, 0, image);
      setImmediate(() => {
        onPartialImage(0, 0, image);
        first.resolve(result);
      });
      return [first.promise, Promise.resolve(result)];
    },
    newToolId: () => 'ig',
    takeIndex: () => next++,
    push: (more) => void events.push(...more),
    returned: () => {},
    isOver: () => false,
  });
  assert.equal((await shown).length, 2);
  assert.deepEqual(
    events.map((event) => `${event.type} ${'index' in event ? event.index : ''}`),
    [
      'block-started 0',
      'partial-image 0',
      'tool-outcome 0',
      'block-ended 0',
      'block-started 1',
      'partial-image 1',
      'tool-outcome 1',
      'block-ended 1',
    ],
  );
});
