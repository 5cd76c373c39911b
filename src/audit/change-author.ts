/** Ways of a change: command line, admin API, a key's own call of the gateway, or configuration at a start. */
export const auditWays = ['cli', 'api', 'gateway', 'configuration'] as const;
export type AuditWay = (typeof auditWays)[number];

/** A person, program or key that makes a change, as the audit log names it. */
export type ChangeAuthor = {
  /** Kind and name: `cli:root`, `person:ann`, `token:ci`, `key:k3jd82ls0a`, `configuration`. */
  readonly actor: string;
  readonly via: AuditWay;
  /** The reason that the author gave. */
  readonly note?: string;
  /** The IP address of an HTTP request. */
  readonly address?: string;
  readonly requestId?: string;
  /** The browser of a sign-in. It is kept with the session, not in the audit log. */
  readonly userAgent?: string;
};

/** An author with the time of the change in Unix milliseconds, and what the author has seen. */
export type Change = ChangeAuthor & {
  readonly atMs: number;
  /**
   * The number of the subject's last change that the author has seen, 0 if there was none. If there is a later one, the
   * store changes nothing and rejects with an error for which `isVersionMismatch` is true.
   */
  readonly expectedVersion?: number;
};

/** Whether a store refused a change because somebody else has changed the subject meanwhile. */
export function isVersionMismatch(error: unknown): boolean {
  return error instanceof Error && 'kind' in error && error.kind === 'version-mismatch';
}

/** The author of changes that the configuration demands when a program starts. */
export const configurationAuthor: ChangeAuthor = { actor: 'configuration', via: 'configuration' };
