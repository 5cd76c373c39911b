import type { IncomingCall } from '../incoming-call.ts';
import type { ApiKey } from '../../../../accounts/api-key.ts';
import type { WireRequest } from '../../../../dialects/wire-request.ts';
import type { CallFacts } from '../../../../inference/call-facts.ts';
import type { InlineFiles } from '../inline-files.ts';
import type { GatewaySettings } from '../../../attempts/services.ts';
import type { ChatServices } from '../chat-services.ts';
import type { ResponseState } from '../../../attempts/routing/routing-table.ts';
import type { Target } from '../../../attempts/routing/target.ts';

export type OpenTurn = {
  readonly gateway: Pick<ChatServices, 'conversations' | 'clock' | 'newId' | 'logger'>;
  readonly call: IncomingCall;
  readonly settings: GatewaySettings;
  readonly caller: ApiKey;
  /** The request with its files inlined. */
  readonly request: WireRequest;
  readonly bytes: Buffer;
  /** The request as the client wrote it. It is the one that is stored, so that files stay named by their ids. */
  readonly original: WireRequest;
  readonly inlineFiles: InlineFiles;
  readonly facts: CallFacts;
  /** Whether it runs in the background. Only the gateway then stores it, and the background run does so itself. */
  readonly isBackground: boolean;
  readonly state: ResponseState;
  /** All targets of the model, whatever their health. */
  readonly targets: readonly Target[];
};
