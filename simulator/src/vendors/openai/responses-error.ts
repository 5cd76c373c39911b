import { type Json, VendorError } from '../../simulated-vendor.ts';

export type ErrorDetails = { readonly param?: string; readonly code?: string; readonly status?: number; readonly type?: string };

/** A refusal of the Responses interface: always with all four members, null if absent. The default status is 400. */
export function refuse(message: string, details: ErrorDetails = {}): VendorError {
  const error: Json = {
    message,
    type: details.type ?? 'invalid_request_error',
    param: details.param ?? null,
    code: details.code ?? null,
  };
  return new VendorError(details.status ?? 400, { error }, message);
}
