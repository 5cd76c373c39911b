import type { Socket } from 'node:net';

/** A worker, as the dispatcher sees it. */
type Receiver = {
  /** Sends a connection to the worker, with the number by which the worker confirms it. */
  readonly send: (id: number, socket: Socket) => void;
};

/** A worker in the dispatcher. */
export type DispatcherSlot = {
  /** The worker has received the connection, and has `open` connections now. */
  readonly taken: (id: number, open: number) => void;
  /** Updates the number of the worker's connections. */
  readonly counted: (open: number) => void;
  /** Sends no more connections to the worker; sent ones may still arrive. */
  readonly leave: () => void;
  /** The worker has ended: connections that had not arrived go to the others. */
  readonly lost: () => void;
};

/** Dispatches connections to workers: each to the worker with the fewest. */
export type ConnectionDispatcher = {
  readonly join: (receiver: Receiver) => DispatcherSlot;
  readonly take: (socket: Socket) => void;
  /** Closes waiting connections, and all new ones. */
  readonly close: () => void;
};

type Member = { readonly receiver: Receiver; readonly underWay: Map<number, Socket>; open: number };

/** While there is no worker, connections wait: this many, and this long. */
const waitingMax = 1024;
const waitMsMax = 30_000;

/** Connections that wait for a worker. A connection beyond the limits of number or time is closed. */
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
 * A connection stays open here until its worker has confirmed it, so that none is lost with a worker that dies before
 * it has read the message. (Node's cluster module forgets such a connection, and its client waits forever.)
 */
export function createConnectionDispatcher(): ConnectionDispatcher {
  let members: readonly Member[] = [];
  const room = createWaitingRoom();
  let lastId = 0;
  let turn = 0;
  let closed = false;

  /** Workers with equally many connections are chosen in turn. */
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
      // A client may reset a connection that waits; this is not an error.
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
