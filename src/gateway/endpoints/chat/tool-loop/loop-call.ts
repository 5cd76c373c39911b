import type { PreparedCall } from '../incoming-call.ts';
import type { ImageInput } from '../../../../inference/image.ts';
import type { InferenceRequest, ServerToolPart } from '../../../../inference/inference-request.ts';
import type { SchemaCheck } from './check-reply.ts';
import type { ReplySink } from '../../../replies/reply-sink.ts';
import type { AnyLoopReply } from './loop-reply.ts';
import type { OfferedTools } from './offer-tools.ts';
import type { ToolSettings } from '../../../settings/call-settings.ts';

/** What a loop works with. */
export type LoopCall = {
  readonly known: PreparedCall;
  /** The conversation, with what the model is told of its tools. */
  readonly request: InferenceRequest;
  readonly offered: OfferedTools;
  readonly settings: ToolSettings;
  /** Runs of tools that client and operator allow for the whole reply. */
  readonly runsMax: number;
  readonly reply: AnyLoopReply;
  /** Where the reply goes. */
  readonly sink: Pick<
    ReplySink<never>,
    'hasBegun' | 'isGone' | 'isDelivered' | 'setHeader' | 'destroy' | 'onRoom' | 'onClose' | 'limitReader'
  >;
  /** Absent: the answer is taken as it is. */
  readonly check?: SchemaCheck | undefined;
  /** Whether an address stands in the conversation. */
  readonly knowsAddress: (address: string) => boolean;
  /** The images of the conversation, for tools that make others from them. */
  readonly images?: readonly ImageInput[];
  readonly newToolId: (tool: ServerToolPart['tool']) => string;
};
