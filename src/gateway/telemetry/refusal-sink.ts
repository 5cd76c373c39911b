import type { ApiKey } from '../../accounts/api-key.ts';
import type { RefusalWriter } from '../../audit/refusals/refusal-writer.ts';
import { toSafePath, toSafeSentence } from '../../audit/refusals/safe-sentence.ts';
import type { GatewayError } from '../../inference/gateway-error.ts';
import type { CallReport, CallSink } from './call-report.ts';

/** A caller as the refusal log names it. */
type RefusedCaller = Pick<ApiKey, 'id' | 'userName' | 'name'>;

/** Passes refused requests to the refusal log. */
export function createRefusalSink(options: {
  readonly writer: Pick<RefusalWriter, 'admits' | 'add'>;
  readonly clock: { readonly nowMs: () => number };
  /** Whether the gateway serves a model of this name. Any other name is the client's text. */
  readonly isListed: (model: string) => boolean;
  readonly addressOf: (request: CallReport['request']) => string | undefined;
  /** The caller of a request that was refused before or without a look at its key; undefined if its key is unknown. */
  readonly callerOf: (request: CallReport['request']) => RefusedCaller | undefined;
}): CallSink {
  const { writer, clock, isListed, addressOf, callerOf } = options;
  return {
    callsEnded: (calls) => {
      for (const { report, end } of calls) {
        const { error, facts, request } = report;
        if (end !== 'refused' || error === undefined || !writer.admits()) continue;
        const caller = report.caller ?? callerOf(request);
        const model = facts?.requestedModel;
        writer.add({
          atMs: clock.nowMs(),
          code: error.code,
          status: error.status,
          message: sentenceOf(error),
          keyId: caller?.id,
          userName: caller?.userName,
          keyName: caller?.name,
          address: addressOf(request)?.slice(0, 64),
          interface: report.dialect,
          path: toSafePath(request.url ?? ''),
          requestId: report.callId,
          model: model !== undefined && isListed(model) ? model : undefined,
        });
      }
    },
  };
}

/** The text of a vendor may repeat the prompt: only the code is kept. */
function sentenceOf({ code, message, param }: GatewayError): string {
  return code.startsWith('upstream_') ? code.replaceAll('_', ' ') : toSafeSentence(message, param);
}
