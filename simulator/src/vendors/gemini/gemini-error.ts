import { type Json, type JsonRecord, VendorError } from '../../simulated-vendor.ts';

const statusNames: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  409: 'ABORTED',
  416: 'OUT_OF_RANGE',
  429: 'RESOURCE_EXHAUSTED',
  499: 'CANCELLED',
  500: 'INTERNAL',
  501: 'UNIMPLEMENTED',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
};

/** An error body in the google.rpc format. A 429 also says when to retry, as the vendor's does. */
export function writeErrorBody(status: number, message: string, details: readonly JsonRecord[] = detailsOf(status)): Json {
  const name = statusNames[status] ?? (status < 500 ? 'INVALID_ARGUMENT' : 'INTERNAL');
  return { error: { code: status, message, status: name, ...(details.length > 0 && { details: [...details] }) } };
}

/** A refusal of this vendor: 400 unless another status is given. */
export function refuse(message: string, status = 400, details?: readonly JsonRecord[]): VendorError {
  return new VendorError(status, writeErrorBody(status, message, details), message);
}

/** The detail that clients look for if a key is wrong. */
export const apiKeyInvalidDetails: readonly JsonRecord[] = [
  {
    '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
    reason: 'API_KEY_INVALID',
    domain: 'googleapis.com',
    metadata: { service: 'generativelanguage.googleapis.com' },
  },
];

function detailsOf(status: number): readonly JsonRecord[] {
  if (status !== 429) return [];
  return [
    {
      '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
      violations: [
        {
          quotaMetric: 'generativelanguage.googleapis.com/generate_content_requests',
          quotaId: 'GenerateRequestsPerMinutePerProjectPerModel',
          quotaValue: '10',
        },
      ],
    },
    { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '1s' },
  ];
}
