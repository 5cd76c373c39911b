/** A refusal of the admin API (RFC 9457). */
export type ProblemBody = {
  readonly status: number;
  readonly code: string;
  readonly title: string;
  readonly detail: string;
  readonly request_id: string;
  readonly retryable: boolean;
  readonly permission?: string;
  /** The models that a change of the configuration would leave without a target. */
  readonly models?: readonly string[];
  readonly errors?: readonly { readonly pointer?: string; readonly parameter?: string; readonly code: string; readonly detail: string }[];
};

export class ApiProblem extends Error {
  readonly body: ProblemBody;
  /** The present version of an object that somebody else has changed. */
  readonly version: string | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(body: ProblemBody, headers?: Headers, options?: ErrorOptions) {
    super(body.detail, options);
    this.name = 'ApiProblem';
    this.body = body;
    this.version = headers?.get('etag') ?? undefined;
    const wait = Number(headers?.get('retry-after') ?? Number.NaN);
    this.retryAfterSeconds = Number.isFinite(wait) ? wait : undefined;
  }

  static unreachable(cause: unknown): ApiProblem {
    const body = {
      status: 0,
      code: 'unreachable',
      title: 'The console does not answer.',
      detail: 'The program may be stopping or starting, or the network is interrupted. This page tries again by itself.',
      request_id: '',
      retryable: true,
    };
    return new ApiProblem(body, undefined, { cause });
  }

  get code(): string {
    return this.body.code;
  }

  /** The sentence for a field of a form, by its JSON Pointer or parameter name. */
  fieldErrors(): Readonly<Record<string, string>> {
    return Object.fromEntries(
      (this.body.errors ?? []).map(({ pointer, parameter, detail }) => [
        parameter ?? (pointer ?? '').slice(1).replaceAll('/', '.'),
        detail,
      ]),
    );
  }
}

/** Any error as a problem that can be shown. */
export function toProblem(error: unknown): ApiProblem {
  if (error instanceof ApiProblem) return error;
  const detail = error instanceof Error ? error.message : String(error);
  return new ApiProblem({
    status: 0,
    code: 'page_failed',
    title: 'This part of the page failed.',
    detail,
    request_id: '',
    retryable: false,
  });
}
