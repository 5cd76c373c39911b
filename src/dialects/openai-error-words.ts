import type { ErrorCode, GatewayError } from '../inference/gateway-error.ts';

/** The four members of the vendor's error object. All are always present, null if unknown. */
export type OpenaiErrorBody = {
  readonly message: string;
  readonly type: string;
  readonly param: string | null;
  readonly code: string | null;
};

/** The vendor's type for an error. It follows the status, so that it also fits errors with a status of their own. */
export function wordErrorType(status: number): string {
  if (status >= 500) return 'server_error';
  if (status === 429) return 'requests';
  return status === 402 ? 'insufficient_quota' : 'invalid_request_error';
}

/** The same for an error of ours. Token limits have their own type, and so have spend limits, where no retry helps. */
export function wordErrorKind(error: GatewayError, status: number = error.status): string {
  if (error.code === 'spend_limit_reached') return 'insufficient_quota';
  return error.exceededLimit?.of === 'tokens' ? 'tokens' : wordErrorType(status);
}

/**
 * Our codes for which the vendor has another machine code, which programs compare, or none. Its interfaces add their
 * own.
 */
export const commonVendorCodes: Partial<Record<ErrorCode, string | null>> = {
  missing_required_field: 'missing_required_parameter',
  unknown_field: 'unknown_parameter',
  route_not_found: null,
  insufficient_credit: 'insufficient_quota',
  spend_limit_reached: 'insufficient_quota',
  upstream_content_filtered: 'content_filter',
};
