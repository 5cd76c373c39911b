import type { Socket } from 'node:net';

/** A worker as the one who hands out connections sees it. */
type Receiver = {
  /** Sends a connection there, with the number by which its arrival is told. */
  readonly send: (id: number, socket: Socket) => void;
};

/** A worker's place among those that take connections. */
export type Place = {
  /** The worker has the connection, and so many in all. */
  readonly taken: (id: number, open: number) => void;
  /** How many connections the worker has now. */
  readonly counted: (open: number) => void;
  /** No more connections go there; those that have not arrived are still expected to. */
  readonly leave: () => void;
  /** The worker is gone: what had not arrived there goes to the others. */
  readonly lost: () => void;
};

/** Hands connections to workers: each to the one with the fewest. */
export type HandOver = {
  readonly join: (receiver: Receiver) => Place;
  readonly take: (socket: Socket) => void;
  /** Gives up what waits for a worker, and everything that comes. */
  readonly close: () => void;
};

type Member = { readonly receiver: Receiver; readonly underWay: Map<number, Socket>; open: number };

/** While there is no worker, connections wait: this many, and this long. */
const waitingMax = 1024;
const waitMsMax = 30_000;

/** Connections for which there is no worker at the moment. Those that come when it is full, and those that waited too long, are given up. */
function createWaitingRoom() {
  const waiting = new Map<Socket, NodeJS.Timeout>();
  const takeAll = (): readonly Socket[] => {
    const sockets = [...waiting.keys()];
    for (const timer of waiting.values()) clearTimeout(timer);
    waiting.clear();
    return sockets;
  };
  return {
    add: (socket: Socket): void => {
      if (waiting.size >= waitingMax) return void socket.destroy();
      const giveUp = (): void => {
        waiting.delete(socket);
        socket.destroy();
      };
      waiting.set(socket, setTimeout(giveUp, waitMsMax).unref());
    },
    takeAll,
  };
}

/**
 * A connection stays open here until its worker has said that it arrived, so that none is lost with a worker that dies before it could look at it. (Node's own cluster module
 * forgets such a connection, and its client waits for ever.)
 */
export function createHandOver(): HandOver {
  let members: readonly Member[] = [];
  const room = createWaitingRoom();
  let lastId = 0;
  let turn = 0;
  let closed = false;

  /** Those with equally many get their turns one after the other. */
  const choose = (): Member | undefined => {
    let best: Member | undefined;
    turn += 1;
    for (let step = 0; step < members.length; step += 1) {
      const member = members[(turn + step) % members.length];
      if (member !== undefined && (best === undefined || loadOf(member) < loadOf(best))) best = member;
    }
    return best;
  };
  const give = (socket: Socket): void => {
    if (closed) return void socket.destroy();
    const member = choose();
    if (member === undefined) return room.add(socket);
    const id = (lastId += 1);
    member.underWay.set(id, socket);
    member.receiver.send(id, socket);
  };
  const leave = (member: Member): void => {
    members = members.filter((other) => other !== member);
  };

  return {
    join: (receiver) => {
      const member: Member = { receiver, underWay: new Map(), open: 0 };
      members = [...members, member];
      for (const socket of room.takeAll()) give(socket);
      return {
        taken: (id, open) => {
          member.open = open;
          // Closes this process's end only; the worker has its own.
          member.underWay.get(id)?.destroy();
          member.underWay.delete(id);
        },
        counted: (open) => {
          member.open = open;
        },
        leave: () => leave(member),
        lost: () => {
          leave(member);
          const sockets = [...member.underWay.values()];
          member.underWay.clear();
          for (const socket of sockets) give(socket);
        },
      };
    },
    take: (socket) => {
      // A client that resets before anybody serves it is nobody's failure.
      socket.on('error', () => socket.destroy());
      give(socket);
    },
    close: () => {
      closed = true;
      for (const socket of room.takeAll()) socket.destroy();
    },
  };
}

function loadOf({ open, underWay }: Member): number {
  return open + underWay.size;
}
