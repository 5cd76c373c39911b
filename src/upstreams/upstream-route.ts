import type { Operation, UpstreamDialectId } from '../dialects/dialect-id.ts';
import type { StreamFraming } from '../platform/frames.ts';

/** The operation and model that a request addresses. */
export type UpstreamRoute = {
  readonly dialect: UpstreamDialectId;
  readonly operation: Operation;
  readonly upstreamModel: string;
  /** The model behind that name, if the operator says which. */
  readonly is?: string;
  /** The framing of a stream. Absent: the reply is whole. */
  readonly framing?: StreamFraming;
};
