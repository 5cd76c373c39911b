import assert from 'node:assert/strict';
import { test } from 'node:test';

import { foldEvents } from '../../../inference/fold-events.ts';
import { objectsOf, textOf } from '../../../platform/json/json-readers.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { decodeReply } from './decode-reply.ts';
import { encodeReply } from './encode-reply.ts';
import { decodeAction, encodeAction } from './screen-actions.ts';
import { createReading, createWriting, decodeStream, encodeStream, responseOf } from './testing/test-kit.ts';
import { replayReply } from '../../../inference/replay-reply.ts';
import { replyOf } from './testing/sample-replies.ts';

/** Actions of this dialect with the neutral arguments. Translated in both directions. */
const both: readonly (readonly [JsonObject, JsonObject])[] = [
  [
    { type: 'click', button: 'left', x: 1, y: 2 },
    { action: 'left_click', coordinate: [1, 2] },
  ],
  [
    { type: 'click', button: 'right', x: 1, y: 2 },
    { action: 'right_click', coordinate: [1, 2] },
  ],
  [
    { type: 'click', button: 'wheel', x: 1, y: 2 },
    { action: 'middle_click', coordinate: [1, 2] },
  ],
  [
    { type: 'double_click', x: 1, y: 2 },
    { action: 'double_click', coordinate: [1, 2] },
  ],
  [
    {
      type: 'drag',
      path: [
        { x: 1, y: 2 },
        { x: 3, y: 4 },
      ],
    },
    { action: 'left_click_drag', start_coordinate: [1, 2], coordinate: [3, 4] },
  ],
  [
    { type: 'keypress', keys: ['ctrl', 'c'] },
    { action: 'key', text: 'ctrl+c' },
  ],
  [
    { type: 'move', x: 1, y: 2 },
    { action: 'mouse_move', coordinate: [1, 2] },
  ],
  [{ type: 'screenshot' }, { action: 'screenshot' }],
  [
    { type: 'scroll', x: 1, y: 2, scroll_x: 0, scroll_y: 300 },
    { action: 'scroll', coordinate: [1, 2], scroll_direction: 'down', scroll_amount: 3 },
  ],
  [
    { type: 'scroll', x: 1, y: 2, scroll_x: -100, scroll_y: 0 },
    { action: 'scroll', coordinate: [1, 2], scroll_direction: 'left', scroll_amount: 1 },
  ],
  [
    { type: 'type', text: 'Hi' },
    { action: 'type', text: 'Hi' },
  ],
];

for (const [action, args] of both) {
  test(`${JSON.stringify(action)} is translated in both directions`, () => {
    assert.deepEqual(decodeAction(action), args);
    // Zero has no sign on the wire.
    assert.deepEqual(JSON.parse(JSON.stringify(encodeAction(args))), action);
  });
}

test('an action without an equivalent becomes the nearest, and an unknown action has none', () => {
  assert.deepEqual(decodeAction({ type: 'click', button: 'back', x: 0, y: 0 }), { action: 'key', text: 'alt+Left' });
  assert.deepEqual(decodeAction({ type: 'wait' }), { action: 'wait', duration: 1 });
  assert.deepEqual(encodeAction({ action: 'wait', duration: 5 }), { type: 'wait' });
  assert.deepEqual(encodeAction({ action: 'triple_click', coordinate: [1, 2] }), { type: 'double_click', x: 1, y: 2 });
  assert.equal(encodeAction({ action: 'dance' }), undefined);
  assert.deepEqual(decodeAction({ type: 'constructor' }), { action: 'constructor' });
});

const tools = [{ type: 'computer_use_preview', display_width: 10, display_height: 10, environment: 'browser' }];
const args = '{"action":"left_click","coordinate":[1,2]}';

test("a screen action of another vendor's model is a computer_call, sent when it is complete", () => {
  const reply = replyOf([{ kind: 'tool-call', id: 'toolu_1', name: 'computer', arguments: args }], { stopReason: 'tool-calls' });
  const [item] = objectsOf(encodeReply(reply, createWriting({ tools })).output);
  const action = { type: 'click', button: 'left', x: 1, y: 2 };
  const { id, ...rest } = item ?? {};
  assert.match(textOf(id) ?? '', /^cu_/);
  assert.deepEqual(rest, { type: 'computer_call', status: 'completed', call_id: 'toolu_1', action, pending_safety_checks: [] });
  const stream = encodeStream(replayReply(reply), createWriting({ tools }));
  assert.deepEqual(
    [...stream.matchAll(/^event: (.*)$/gm)].map(([, name]) => name),
    ['response.created', 'response.in_progress', 'response.output_item.added', 'response.output_item.done', 'response.completed'],
  );
  assert.deepEqual(
    foldEvents(decodeStream(Buffer.from(stream))).parts.map(({ kind }) => kind),
    ['tool-call'],
  );
});

test('a computer_call of the vendor keeps its action and its checks for clients of this dialect', () => {
  const checks = [{ id: 'sc_1', code: 'c', message: 'm' }];
  const item = {
    type: 'computer_call',
    id: 'cu_1',
    call_id: 'c1',
    status: 'completed',
    action: {
      type: 'drag',
      path: [
        { x: 1, y: 2 },
        { x: 9, y: 9 },
        { x: 3, y: 4 },
      ],
    },
    pending_safety_checks: checks,
  };
  const reply = decodeReply(responseOf([item]), createReading());
  assert.equal(reply.stopReason, 'tool-calls');
  const [written] = objectsOf(encodeReply(reply, createWriting({ tools })).output);
  assert.deepEqual([written?.action, written?.pending_safety_checks, written?.call_id], [item.action, checks, 'c1']);
});
