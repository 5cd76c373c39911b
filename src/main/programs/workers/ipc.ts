/**
 * The requests of one side to the other, by topic, with the value of the request and of the answer. Both must survive
 * JSON.
 */
export type Topics = Readonly<Record<string, { readonly ask: unknown; readonly answer: unknown }>>;

/** Answers each topic. The message of an error is sent to the other side. */
export type Handlers<Served extends Topics> = {
  readonly [Topic in keyof Served]: (value: Served[Topic]['ask']) => Served[Topic]['answer'] | Promise<Served[Topic]['answer']>;
};

/** Carries messages between two processes, in order. */
export type Channel = {
  /** Never throws. Messages on a closed channel are lost. */
  readonly send: (message: unknown) => void;
  readonly onMessage: (listener: (message: unknown) => void) => void;
};

/** One side of a conversation between two processes. */
export type Ipc<Asked extends Topics> = {
  /**
   * Rejects with IpcError after `timeoutMs`, when the other side fails or ends, and at once when `pendingMax` questions
   * are open.
   */
  readonly ask: <Topic extends keyof Asked & string>(
    topic: Topic,
    value: Asked[Topic]['ask'],
    timeoutMs: number,
  ) => Promise<Asked[Topic]['answer']>;
  /** Sends a message without an answer. */
  readonly tell: <Topic extends keyof Asked & string>(topic: Topic, value: Asked[Topic]['ask']) => void;
  /** The other side has ended: open requests reject. */
  readonly end: () => void;
};

/** A request was not answered. */
export class IpcError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'IpcError';
  }
}

type Message =
  | { readonly weir: 'ask'; readonly id: number; readonly topic: string; readonly value?: unknown }
  | { readonly weir: 'tell'; readonly topic: string; readonly value?: unknown }
  | { readonly weir: 'answer'; readonly id: number; readonly value?: unknown }
  | { readonly weir: 'failure'; readonly id: number; readonly message: string };

type Question = { readonly resolve: (value: never) => void; readonly reject: (error: IpcError) => void; readonly untilMs: number };

const pendingMaxDefault = 20_000;
/** One timer serves all requests, because a timer for each would be expensive. A limit may be late by this time. */
const tickMs = 50;

/** Begins a conversation. `handlers` answer the requests of the other side. It does not keep the process alive. */
export function createIpc<Asked extends Topics, Served extends Topics>(options: {
  readonly channel: Channel;
  readonly handlers: Handlers<Served>;
  /** Called when a message without an answer fails. */
  readonly onFailure: (topic: string, error: unknown) => void;
  readonly pendingMax?: number;
}): Ipc<Asked> {
  const { channel, handlers, onFailure, pendingMax = pendingMaxDefault } = options;
  const questions = createQuestions();
  let ended = false;

  const handle = async (topic: string, value: unknown): Promise<unknown> => {
    if (!Object.hasOwn(handlers, topic)) throw new IpcError(`${topic} is not known here`);
    return await handlers[topic]?.(value);
  };
  const answer = async (id: number, topic: string, value: unknown): Promise<void> => {
    try {
      channel.send({ weir: 'answer', id, value: await handle(topic, value) } satisfies Message);
    } catch (error) {
      channel.send({ weir: 'failure', id, message: error instanceof Error ? error.message : String(error) } satisfies Message);
    }
  };
  channel.onMessage((received) => {
    if (!isMessage(received)) return;
    switch (received.weir) {
      case 'ask':
        void answer(received.id, received.topic, received.value);
        return;
      case 'tell':
        handle(received.topic, received.value).catch((error: unknown) => onFailure(received.topic, error));
        return;
      case 'answer':
        questions.take(received.id)?.resolve(received.value as never);
        return;
      case 'failure':
        questions.take(received.id)?.reject(new IpcError(received.message));
        return;
    }
  });
  return {
    ask: (topic, value, timeoutMs) => {
      if (ended) return Promise.reject(new IpcError('the other process has ended'));
      if (questions.size() >= pendingMax) return Promise.reject(new IpcError(`${pendingMax} questions wait for the other process`));
      const { id, answered } = questions.add(timeoutMs);
      channel.send({ weir: 'ask', id, topic, value } satisfies Message);
      return answered;
    },
    tell: (topic, value) => {
      if (!ended) channel.send({ weir: 'tell', topic, value } satisfies Message);
    },
    end: () => {
      ended = true;
      questions.rejectAll('the other process has ended');
    },
  };
}

/** Node's channel between a process and its parent also carries other messages. */
function isMessage(received: unknown): received is Message {
  return typeof received === 'object' && received !== null && 'weir' in received;
}

function createQuestions() {
  const open = new Map<number, Question>();
  let lastId = 0;
  let timer: NodeJS.Timeout | undefined;

  const take = (id: number): Question | undefined => {
    const question = open.get(id);
    open.delete(id);
    if (open.size === 0) {
      clearInterval(timer);
      timer = undefined;
    }
    return question;
  };
  const giveUp = (): void => {
    const nowMs = performance.now();
    for (const [id, { untilMs }] of open) if (untilMs <= nowMs) take(id)?.reject(new IpcError('no answer of the other process in time'));
  };
  return {
    size: () => open.size,
    take,
    add: (timeoutMs: number): { readonly id: number; readonly answered: Promise<never> } => {
      const id = (lastId += 1);
      const { promise, resolve, reject } = Promise.withResolvers<never>();
      open.set(id, { resolve, reject, untilMs: performance.now() + timeoutMs });
      timer ??= setInterval(giveUp, tickMs).unref();
      return { id, answered: promise };
    },
    rejectAll: (reason: string): void => {
      for (const id of open.keys()) take(id)?.reject(new IpcError(reason));
    },
  };
}
