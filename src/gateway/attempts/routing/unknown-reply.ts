import type { CallFacts } from '../../../inference/call-facts.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';

/** The error for a reply that cannot be continued: it is not there, is another user's, or the model does not go to the upstream that keeps it. */
export function describeUnknownReply({ replyId, param }: NonNullable<CallFacts['continues']>): GatewayError {
  return new GatewayError('reply_not_found', wordUnknown(replyId.slice(0, 100), param), {
    param,
    // What the stateful client of Messages reads in order to start over with the whole history.
    ...(param === 'previous_response_id' ? {} : { details: { error_code: 'thread_not_found' } }),
  });
}

function wordUnknown(replyId: string, param: string): string {
  if (param === 'previous_response_id') return `Previous response with id '${replyId}' not found.`;
  return `${param}: no message '${replyId}' was found; send the whole history instead`;
}
