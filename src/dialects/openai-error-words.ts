import type { ErrorCode, GatewayError } from '../inference/gateway-error.ts';

/** The four members of the vendor's error object; all are always present, null where there is nothing to say. */
export type OpenaiErrorBody = {
  readonly message: string;
  readonly type: string;
  readonly param: string | null;
  readonly code: string | null;
};

/** The vendor's word for the kind of error. It follows the status, so that an error with a status of its own is named by it. */
export function wordErrorType(status: number): string {
  if (status >= 500) return 'server_error';
  if (status === 429) return 'requests';
  return status === 402 ? 'insufficient_quota' : 'invalid_request_error';
}

/** The same for an error of ours: one of tokens has a word of its own, and so has one of money, which no retry mends. */
export function wordErrorKind(error: GatewayError, status: number = error.status): string {
  if (error.code === 'spend_limit_reached') return 'insufficient_quota';
  return error.exceededLimit?.of === 'tokens' ? 'tokens' : wordErrorType(status);
}

/** Our codes that the vendor has another machine code for, which programs compare, or none. Its interfaces add their own. */
export const commonVendorCodes: Partial<Record<ErrorCode, string | null>> = {
  missing_required_field: 'missing_required_parameter',
  unknown_field: 'unknown_parameter',
  route_not_found: null,
  insufficient_credit: 'insufficient_quota',
  spend_limit_reached: 'insufficient_quota',
};
