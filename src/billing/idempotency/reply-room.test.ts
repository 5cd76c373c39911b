import assert from 'node:assert/strict';
import { test } from 'node:test';

import { ReplyRoom } from './reply-room.ts';

const createRoom = (): ReplyRoom => new ReplyRoom(() => ({ totalBytesMax: 100, apiKeyBytesMax: 60 }));

test('a look into the store forgets nothing of what is being recorded meanwhile', () => {
  const room = createRoom();
  const share = room.open('a');
  assert.equal(share.take(50), true);
  room.learn([]);
  assert.equal(room.open('a').take(11), false);
  assert.equal(room.open('a').take(10), true);
  share.giveBack();
  assert.equal(room.open('a').take(50), true);
  assert.equal(room.open('a').take(1), false);
});

test('what was recorded is counted by the look alone from the next one on', () => {
  const room = createRoom();
  const share = room.open('a');
  share.take(50);
  share.close();
  room.learn([{ keyId: 'a', bytes: 20 }]);
  assert.equal(room.open('a').take(41), false);
  assert.equal(room.open('a').take(40), true);
});

test('what is stored of a running record already is counted twice until the next look, and given back once', () => {
  const room = createRoom();
  const share = room.open('a');
  share.take(25);
  room.learn([
    { keyId: 'a', bytes: 25 },
    { keyId: 'b', bytes: 40 },
  ]);
  assert.equal(room.open('b').take(11), false);
  share.giveBack();
  share.giveBack();
  assert.equal(room.open('b').take(20), true);
  assert.equal(room.open('c').take(16), false);
  assert.equal(room.open('c').take(15), true);
});
