import { type EndedCall } from './call-report.ts';

/** What the gaps of a stream are counted by. */
export type StreamKind = {
  readonly dialect: string;
  readonly upstream: string;
  readonly vendor: string;
  readonly requestedModel: string;
};

/** Something that calls are told to. */
export type CallSink = { readonly callsEnded: (calls: readonly EndedCall[]) => void };
