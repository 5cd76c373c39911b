import type { PreparedCall } from '../incoming-call.ts';
import type { ImageInput } from '../../../../inference/image.ts';
import type { InferenceRequest, ServerToolPart } from '../../../../inference/inference-request.ts';
import type { SchemaCheck } from './check-reply.ts';
import type { ReplySink } from '../../../replies/reply-sink.ts';
import type { AnyLoopReply } from './loop-reply.ts';
import type { OfferedTools } from './offer-tools.ts';
import type { ToolSettings } from '../../../settings/call-settings.ts';

/** The parts of a call that a loop needs. */
export type LoopCall = {
  readonly prepared: PreparedCall;
  /** The conversation, with the instructions about tools. */
  readonly request: InferenceRequest;
  readonly offered: OfferedTools;
  readonly settings: ToolSettings;
  /** The runs of tools that client and operator allow for the whole reply. */
  readonly runsMax: number;
  readonly reply: AnyLoopReply;
  /** Receives the reply. */
  readonly sink: Pick<
    ReplySink<never>,
    'hasBegun' | 'isGone' | 'isDelivered' | 'setHeader' | 'destroy' | 'onRoom' | 'onClose' | 'limitReader'
  >;
  /** Absent: the reply is not checked. */
  readonly check?: SchemaCheck | undefined;
  /** Whether the conversation contains an address. */
  readonly knowsAddress: (address: string) => boolean;
  /** The images of the conversation, for tools that make others from them. */
  readonly images?: readonly ImageInput[];
  readonly newToolId: (tool: ServerToolPart['tool']) => string;
};
