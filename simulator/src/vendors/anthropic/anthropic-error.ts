import { VendorError, type Json, type JsonRecord, type SimulatedRequest } from '../../simulated-vendor.ts';

const errorTypes: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  409: 'conflict_error',
  413: 'request_too_large',
  415: 'invalid_request_error',
  422: 'invalid_request_error',
  429: 'rate_limit_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};

/** The error body of this vendor for a status. Other 4xx are invalid requests, other 5xx are `api_error`. */
export function writeErrorBody(status: number, message: string, requestId?: string, details?: JsonRecord): Json {
  const type = errorTypes[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error');
  return {
    type: 'error',
    error: { type, message, ...(details !== undefined && { details }) },
    ...(requestId !== undefined && { request_id: requestId }),
  };
}

/** A refusal of this vendor: 400 unless another status is given. */
export function refuse(request: SimulatedRequest, message: string, status = 400, details?: JsonRecord): VendorError {
  return new VendorError(status, writeErrorBody(status, message, request.requestId, details), message);
}
