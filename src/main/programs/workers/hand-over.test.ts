import assert from 'node:assert/strict';
import { Socket } from 'node:net';
import { describe, test } from 'node:test';

import { createHandOver, type Place } from './hand-over.ts';

function join(handOver: ReturnType<typeof createHandOver>) {
  const got: { id: number; socket: Socket }[] = [];
  const place: Place = handOver.join({ send: (id, socket) => void got.push({ id, socket }) });
  let open = 0;
  return {
    got,
    place,
    /** Takes all that came; `closed` of its connections have ended meanwhile. */
    arrive: (closed = 0) => {
      open -= closed;
      for (const { id } of got.splice(0)) place.taken(id, (open += 1));
    },
  };
}

describe('connections for workers', () => {
  test('each goes to the one with the fewest, evenly among equals', () => {
    const handOver = createHandOver();
    const workers = [join(handOver), join(handOver), join(handOver)];
    for (let count = 0; count < 9; count++) handOver.take(new Socket());
    assert.deepEqual(
      workers.map(({ got }) => got.length),
      [3, 3, 3],
    );
    for (const { arrive } of workers) arrive();
    workers[1]?.place.counted(0);
    for (let count = 0; count < 3; count++) handOver.take(new Socket());
    assert.deepEqual(
      workers.map(({ got }) => got.length),
      [0, 3, 0],
    );
  });

  test('what had not arrived at a worker that dies goes to the others; what had, does not', () => {
    const handOver = createHandOver();
    const [first, second] = [join(handOver), join(handOver)];
    const sockets = Array.from({ length: 4 }, () => new Socket());
    for (const socket of sockets) handOver.take(socket);
    const arrived = first.got.shift();
    assert.ok(arrived);
    first.place.taken(arrived.id, 1);
    assert.ok(arrived.socket.destroyed, 'this side is closed');
    first.place.lost();
    assert.deepEqual(new Set(second.got.map(({ socket }) => socket)), new Set(sockets.filter((socket) => socket !== arrived.socket)));
  });

  test('without a worker connections wait for one', () => {
    const handOver = createHandOver();
    const dying = join(handOver);
    handOver.take(new Socket());
    dying.place.lost();
    handOver.take(new Socket());
    const successor = join(handOver);
    assert.equal(successor.got.length, 2);
    assert.ok(successor.got.every(({ socket }) => !socket.destroyed));
  });

  test('those that wait have a limit in number and in time', (context) => {
    context.mock.timers.enable({ apis: ['setTimeout'] });
    const handOver = createHandOver();
    const sockets = Array.from({ length: 1025 }, () => new Socket());
    for (const socket of sockets) handOver.take(socket);
    assert.equal(sockets.filter(({ destroyed }) => destroyed).length, 1);
    context.mock.timers.tick(30_001);
    assert.ok(sockets.every(({ destroyed }) => destroyed));
  });

  test('one who leaves gets no more, and what is under way may still arrive', () => {
    const handOver = createHandOver();
    const [leaving, staying] = [join(handOver), join(handOver)];
    handOver.take(new Socket());
    handOver.take(new Socket());
    leaving.place.leave();
    handOver.take(new Socket());
    assert.equal(leaving.got.length, 1);
    assert.equal(staying.got.length, 2);
    leaving.arrive();
    leaving.place.lost();
    assert.equal(staying.got.length, 2);
  });

  test('closed, it gives up what waits and what comes', () => {
    const handOver = createHandOver();
    const [before, after] = [new Socket(), new Socket()];
    handOver.take(before);
    handOver.close();
    handOver.take(after);
    assert.ok(before.destroyed && after.destroyed);
  });
});
