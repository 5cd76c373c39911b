import type { Operation } from '../operation.ts';

/** The parts of an operation's input that its schemas declare. */
export type ServiceInput<Params, Query, Body> = {
  readonly params?: Params;
  readonly query?: Query;
  readonly body?: Body;
  /** The file of an operation that takes one. */
  readonly file?: { readonly name: string; readonly content: Blob };
};

/** The answer of an operation, with the version by which a change names what it has seen. */
type ServiceAnswer<Reply> = { readonly body: Reply; readonly version?: number };

/**
 * The admin API as functions: the commands of the command line are written over it. It has two implementations with the
 * same answers and refusals: `createLocalService` runs the operations in this process, and `createRemoteService` sends
 * them to a console.
 */
export type AdminService = {
  /** @throws AdminProblem as the operation does; remotely also `unavailable` if the console does not answer */
  readonly call: <Services, Params, Query, Body, Reply>(
    operation: Operation<Services, Params, Query, Body, Reply>,
    input?: ServiceInput<Params, Query, Body>,
  ) => Promise<ServiceAnswer<Reply>>;
  /** A streamed answer: an export, piece by piece. */
  readonly stream: <Services, Params, Query, Body, Reply>(
    operation: Operation<Services, Params, Query, Body, Reply>,
    input?: ServiceInput<Params, Query, Body>,
  ) => AsyncGenerator<string | Uint8Array>;
};
