import { type ProblemCode, problemCodes } from './problem-codes.ts';

/** A field with a wrong value: the JSON Pointer of a member of the body, or the name of a parameter. */
export type FieldProblem = {
  readonly pointer?: string;
  readonly parameter?: string;
  readonly code: string;
  /** The field, the problem of its value, and what would be right. */
  readonly detail: string;
};

type ProblemOptions = {
  readonly errors?: readonly FieldProblem[];
  readonly headers?: Readonly<Record<string, string>>;
  /** Further members of the answer, such as `current` with the present state of an object. */
  readonly members?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
};

/** A refusal of the admin API. The detail is for the caller; the cause is for the log. */
export class AdminProblem extends Error {
  readonly code: ProblemCode;
  readonly errors: readonly FieldProblem[];
  readonly headers: Readonly<Record<string, string>>;
  readonly members: Readonly<Record<string, unknown>>;

  constructor(code: ProblemCode, detail: string, options: ProblemOptions = {}) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'AdminProblem';
    this.code = code;
    this.errors = options.errors ?? [];
    this.headers = options.headers ?? {};
    this.members = options.members ?? {};
  }

  get status(): number {
    return problemCodes[this.code].status;
  }
}

/** A body of the type `application/problem+json` (RFC 9457). */
export type ProblemBody = {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: ProblemCode;
  readonly request_id: string;
  readonly retryable: boolean;
  readonly errors?: readonly FieldProblem[];
};

export function encodeProblem(problem: AdminProblem, requestId: string): ProblemBody {
  const { status, title, retryable } = problemCodes[problem.code];
  return {
    type: `/problems/${problem.code}`,
    title,
    status,
    detail: problem.message,
    code: problem.code,
    request_id: requestId,
    retryable,
    ...(problem.errors.length === 0 ? {} : { errors: problem.errors }),
    ...problem.members,
  };
}

/** A 404: the object does not exist, or belongs to somebody whose data the caller may not see. */
export function notFound(what: string): AdminProblem {
  return new AdminProblem('not_found', `There is no ${what}, or it belongs to somebody else.`);
}

/** A 503: the same request may succeed a moment later. */
export function unavailable(detail: string, cause?: unknown): AdminProblem {
  return new AdminProblem('unavailable', detail, { headers: { 'retry-after': '1' }, cause });
}

/** A 400 for one field of the body. */
export function invalidField(pointer: string, code: string, detail: string): AdminProblem {
  return new AdminProblem('invalid_request', detail, { errors: [{ pointer, code, detail }] });
}
