import assert from 'node:assert/strict';
import { test } from 'node:test';

import { computedMessages, describedFolders, readFields, readMeanings } from './logs-page.ts';
import { readLogCalls } from './read-log-calls.ts';

const calls = describedFolders.map((folder) => ({ folder, calls: readLogCalls(folder), meanings: readMeanings(folder) }));
const allCalls = calls.flatMap((folder) => folder.calls);

test('every log message has a meaning, and every meaning has a message', () => {
  for (const { folder, calls: own, meanings } of calls) {
    const messages = own.flatMap(({ message }) => (message === undefined ? [] : [message]));
    assert.deepEqual([...meanings.keys()].toSorted(), [...new Set(messages)].toSorted(), `checks/logs/${folder}.yaml`);
    for (const [message, { meaning, action }] of meanings) assert.match(`${meaning} ${action}`, /^[A-Z`].+\. .+\.$/, message);
  }
});

test('a message is an event without values and advice: short, and one clause', () => {
  const wrong = calls.flatMap(({ meanings }) => [...meanings.keys()]).filter((message) => !/^[a-z][^:;.!]{8,59}$/.test(message));
  assert.deepEqual(wrong, []);
});

test('computed log messages are listed by their file', () => {
  const computed = allCalls.filter(({ message }) => message === undefined).map(({ path }) => path);
  assert.deepEqual([...new Set(computed)], Object.keys(computedMessages));
});

test('every field of a log message is described, and every described field is used', () => {
  const used = allCalls.flatMap(({ fields }) => fields).filter((name) => name !== '...');
  assert.deepEqual([...readFields().keys()].toSorted(), [...new Set(used)].toSorted(), 'checks/logs/fields.yaml');
});
