import type { DialectId } from '../../../dialects/dialect-id.ts';
import type { ErrorVoice } from '../../../dialects/error-voice.ts';
import type { ImageEvent, ImageReply, ImageRequest } from '../../../inference/image.ts';
import type { TranslationNote } from '../../../inference/translation-notes.ts';
import type { StreamFraming } from '../../../platform/frames.ts';
import type { Admission } from '../../admission/overload/fair-gate.ts';
import type { AttemptServices } from '../../attempts/services.ts';
import type { CallLabel } from '../../telemetry/call-report.ts';
import type { AdmittedCall } from './plain-call.ts';
import type { QuoteTarget, QuotedCall } from './quoted-call.ts';

/** The client interface that an image reply is written for. */
export type ImageClient = {
  /** The interface name in the ledger. */
  readonly label: CallLabel;
  /** The dialect of the client's headers. */
  readonly dialect: DialectId;
  readonly voice: ErrorVoice;
  /** The framing of the requested stream; undefined for a reply that is not streamed. */
  readonly framing: StreamFraming | undefined;
  /** Encodes a complete reply as a body. */
  readonly write: (reply: ImageReply, createdAtSeconds: number) => Buffer;
  /** Encodes an event of a stream. Absent if the upstream is never asked for one. */
  readonly writeEvent?: (event: ImageEvent, createdAtSeconds: number) => Buffer;
  /** Encodes a complete reply as the frames of a stream. */
  readonly replay: (reply: ImageReply, createdAtSeconds: number) => readonly Buffer[];
};

/** An image request with the client interface that it came from. */
export type ImageOrder = {
  readonly request: ImageRequest;
  /** Translation notes of decoding the request. */
  readonly notes: readonly TranslationNote[];
  readonly client: ImageClient;
};

/** An admitted image call. */
export type ImageCall = AdmittedCall & { readonly admission: Pick<Admission, 'holdBytes' | 'releaseBytes'> };

/** Makes images for endpoints whose replies may contain them. The image endpoint implements it. */
export type ImageMaker = {
  /**
   * Routes, limits and starts the call like a request to the image endpoint.
   * @throws GatewayError before anything was spent
   */
  readonly make: (call: ImageCall, order: ImageOrder) => Promise<void>;
  /** Estimates the cost of a call. @throws GatewayError if the call would be refused */
  readonly quote: (target: QuoteTarget<Pick<AttemptServices, 'clock'>>, order: ImageOrder) => QuotedCall;
};
