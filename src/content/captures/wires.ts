import type { RecordedBody } from '../records/recorded-call.ts';

export const wireNames = ['client_request', 'upstream_request', 'upstream_reply', 'client_reply'] as const;
type WireName = (typeof wireNames)[number];

/** One direction of a call as the gateway saw it. */
export type RawWire = {
  /** Of a request: the method and the path with its query. Of a reply: the status. */
  readonly start: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Absent if there was none, or it was not in memory. */
  readonly body?: RecordedBody;
};

/** The wires of a call. Absent ones did not happen. Of several attempts, the last one's are there. */
export type RawWires = { readonly [Name in WireName]?: RawWire };

/** A wire as it is kept and shown: without credentials. */
export type Wire = {
  readonly start: string;
  /** Values of headers that are not known to be harmless are replaced. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body as text, or in base64 if it is not text. */
  readonly body: string;
  readonly encoding: 'text' | 'base64';
  /** Bytes of the whole body; more than are shown if its end was left out. */
  readonly body_bytes: number;
  readonly is_cut: boolean;
};
export type Wires = { readonly [Name in WireName]?: Wire };
