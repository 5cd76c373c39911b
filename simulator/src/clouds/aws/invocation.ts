import type { IncomingMessage, ServerResponse } from 'node:http';

/** A call of a native path of Bedrock, whose signature is right. */
export type Invocation = {
  /** The id of the model, decoded. */
  readonly model: string;
  readonly operation: string;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly body: Buffer;
  readonly fail: (status: number, type: string, message: string) => void;
};
