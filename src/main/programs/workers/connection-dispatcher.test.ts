import assert from 'node:assert/strict';
import { Socket } from 'node:net';
import { describe, test } from 'node:test';

import { createConnectionDispatcher, type DispatcherSlot } from './connection-dispatcher.ts';

function join(dispatcher: ReturnType<typeof createConnectionDispatcher>) {
  const got: { id: number; socket: Socket }[] = [];
  const place: DispatcherSlot = dispatcher.join({ send: (id, socket) => void got.push({ id, socket }) });
  let open = 0;
  return {
    got,
    place,
    /** Accepts all received connections; `closed` of them have ended meanwhile. */
    arrive: (closed = 0) => {
      open -= closed;
      for (const { id } of got.splice(0)) place.taken(id, (open += 1));
    },
  };
}

describe('connections for workers', () => {
  test('each goes to the worker with the fewest connections, evenly among equals', () => {
    const dispatcher = createConnectionDispatcher();
    const workers = [join(dispatcher), join(dispatcher), join(dispatcher)];
    for (let count = 0; count < 9; count++) dispatcher.take(new Socket());
    assert.deepEqual(
      workers.map(({ got }) => got.length),
      [3, 3, 3],
    );
    for (const { arrive } of workers) arrive();
    workers[1]?.place.counted(0);
    for (let count = 0; count < 3; count++) dispatcher.take(new Socket());
    assert.deepEqual(
      workers.map(({ got }) => got.length),
      [0, 3, 0],
    );
  });

  test('connections that had not arrived at a dead worker go to the others, and arrived ones do not', () => {
    const dispatcher = createConnectionDispatcher();
    const [first, second] = [join(dispatcher), join(dispatcher)];
    const sockets = Array.from({ length: 4 }, () => new Socket());
    for (const socket of sockets) dispatcher.take(socket);
    const arrived = first.got.shift();
    assert.ok(arrived);
    first.place.taken(arrived.id, 1);
    assert.ok(arrived.socket.destroyed, 'this side is closed');
    first.place.lost();
    assert.deepEqual(new Set(second.got.map(({ socket }) => socket)), new Set(sockets.filter((socket) => socket !== arrived.socket)));
  });

  test('connections wait while there is no worker', () => {
    const dispatcher = createConnectionDispatcher();
    const dying = join(dispatcher);
    dispatcher.take(new Socket());
    dying.place.lost();
    dispatcher.take(new Socket());
    const successor = join(dispatcher);
    assert.equal(successor.got.length, 2);
    assert.ok(successor.got.every(({ socket }) => !socket.destroyed));
  });

  test('waiting connections are limited in number and in time', (context) => {
    context.mock.timers.enable({ apis: ['setTimeout'] });
    const dispatcher = createConnectionDispatcher();
    const sockets = Array.from({ length: 1025 }, () => new Socket());
    for (const socket of sockets) dispatcher.take(socket);
    assert.equal(sockets.filter(({ destroyed }) => destroyed).length, 1);
    context.mock.timers.tick(30_001);
    assert.ok(sockets.every(({ destroyed }) => destroyed));
  });

  test('a worker that leaves gets no more connections, and sent ones may still arrive', () => {
    const dispatcher = createConnectionDispatcher();
    const [leaving, staying] = [join(dispatcher), join(dispatcher)];
    dispatcher.take(new Socket());
    dispatcher.take(new Socket());
    leaving.place.leave();
    dispatcher.take(new Socket());
    assert.equal(leaving.got.length, 1);
    assert.equal(staying.got.length, 2);
    leaving.arrive();
    leaving.place.lost();
    assert.equal(staying.got.length, 2);
  });

  test('a closed dispatcher closes waiting and new connections', () => {
    const dispatcher = createConnectionDispatcher();
    const [before, after] = [new Socket(), new Socket()];
    dispatcher.take(before);
    dispatcher.close();
    dispatcher.take(after);
    assert.ok(before.destroyed && after.destroyed);
  });
});
