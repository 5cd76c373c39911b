import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { NoticeContent } from './notice-content.ts';
import { callbackBody, slackBody, teamsBody } from './webhook-bodies.ts';

const hostile = 'evil <!channel> <https://x|y> [pay](https://x) *now* & `more`';
const content: NoticeContent = {
  event: 'firing',
  rule: 'budget',
  subject: `user:${hostile}`,
  period: '2026-11',
  threshold: 80,
  severity: 'warning',
  summary: `User ${hostile} has used 80 %.`,
  action: 'Raise the limit.',
  sinceMs: Date.UTC(2026, 10, 26),
};

test('a callback has the form of all our events, with the facts', () => {
  assert.deepEqual(JSON.parse(callbackBody(content, { id: 'msg_abc', createdAtMs: 1_800_000_000_999 })), {
    id: 'evt_abc',
    object: 'event',
    created_at: 1_800_000_000,
    type: 'alert.firing',
    data: {
      rule: 'budget',
      subject: content.subject,
      period: '2026-11',
      threshold: 80,
      severity: 'warning',
      summary: content.summary,
      action: 'Raise the limit.',
      since: '2026-11-26T00:00:00.000Z',
      resolved_at: null,
    },
  });
});

test('names in a Slack message mention nobody and make no links', () => {
  const text = slackBody(content);
  assert.doesNotMatch(text, /<!channel>|<https/);
  assert.match(JSON.parse(text).text, /^Warning: User evil &lt;!channel&gt;/);
});

test('names in a card for Teams make no links', () => {
  const card = JSON.parse(teamsBody(content)).attachments[0].content;
  assert.match(card.body[0].text, /\\\[pay\\\]\\\(https:/);
  assert.deepEqual([card.type, card.version, card.body[0].color], ['AdaptiveCard', '1.4', 'warning']);
});

test('a resolved alert says so in each form, and no longer says what to do', () => {
  const resolved: NoticeContent = { ...content, event: 'resolved', resolvedAtMs: content.sinceMs + 60_000 };
  for (const text of [slackBody(resolved), teamsBody(resolved)]) {
    assert.match(text, /Resolved: User/);
    assert.match(text, /2026-11-26T00:01:00\.000Z/);
    assert.doesNotMatch(text, /Raise the limit/);
  }
  assert.equal(JSON.parse(callbackBody(resolved, { id: 'msg_a', createdAtMs: 1 })).type, 'alert.resolved');
});

test('long texts stay within the bounds of Slack', () => {
  const { text, attachments } = JSON.parse(slackBody({ ...content, summary: 'x'.repeat(9000), action: 'y'.repeat(9000) }));
  assert.ok(text.length <= 2900 && attachments[0].blocks[0].text.text.length <= 2900);
});
