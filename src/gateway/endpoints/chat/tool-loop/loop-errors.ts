import { GatewayError } from '../../../../inference/gateway-error.ts';

export function replyTooLarge(replyBytesMax: number): GatewayError {
  return new GatewayError('upstream_reply_too_large', `Upstream connection error: the reply is larger than ${replyBytesMax} characters.`);
}

export function internalError(callId: string): GatewayError {
  return new GatewayError('internal_error', `the gateway failed while it ran tools (${callId})`);
}
