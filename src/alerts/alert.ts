/**
 * How urgent an alert is. `info`: for knowledge; `warning`: act within days; `critical`: calls fail or money is lost.
 */
export const severities = ['info', 'warning', 'critical'] as const;
export type Severity = (typeof severities)[number];

/** The rules by their codes, as messages and the admin API name them, each with its condition. */
const alertRules = {
  budget: 'A spend limit of a key or a user is used up to a threshold, or refuses calls.',
  balance: 'The balance of a prepaid user lasts only some days, or is used up.',
  spend_rate: 'A user spends much more in an hour than in any hour of the seven days before.',
  upstream_down: 'Calls to an upstream fail.',
  credential_refused: 'An upstream refuses the credential of the gateway, or the gateway has none for it.',
  credential_unavailable: 'A credential of a cloud, a secret, or the login to its store cannot be read or renewed.',
  key_expiring: 'An API key or a billing token expires soon, or has expired.',
  price_missing: 'Calls of a model without a price were booked at zero.',
  journal: 'The journal of a gateway cannot be written, or its rows do not reach the database.',
  disk: 'The disk of a data directory is almost full.',
  books: 'The books of credits do not add up.',
  configuration: 'The configuration file or the published layer is invalid, and a gateway uses the last valid one.',
} as const;
export type AlertRule = keyof typeof alertRules;
export const alertRuleCodes = Object.keys(alertRules) as readonly AlertRule[];

/** Identifies an alert: there is one for each subject and period of a rule. */
export type AlertIdentity = {
  readonly rule: AlertRule;
  /** Kind and name: `user:bob`, `key:k3jd82ls0a`, `upstream:openai`, `model:gpt-5`, `node:<id>`. */
  readonly subject: string;
  /** `2026-11-26`, `2026-11` or `total` if each period has alerts of its own; otherwise empty. */
  readonly period: string;
};

/** A problem that exists now. */
export type Finding = AlertIdentity & {
  /** Grows with the threshold that is reached. Each level is announced once. 1 for rules without thresholds. */
  readonly level: number;
  /** The threshold of the level: percent of a limit, or days. Absent for rules without thresholds. */
  readonly threshold?: number;
  /** The value that the thresholds refer to, such as the limit. A new value makes lower levels new again. */
  readonly basis: string;
  readonly severity: Severity;
  /** One sentence. */
  readonly summary: string;
  /** The action that ends the problem, as one sentence. */
  readonly action: string;
};

/** One part of a problem that gateways observe, such as a model of an upstream. */
export type AlertMember = {
  /** When a gateway last observed it as bad, to about an hour. */
  readonly badAtMs: number;
  /** Since when it is good again; absent while it is bad or unknown. */
  readonly goodSinceMs?: number;
  readonly detail?: string;
};

/** An alert as the store keeps it. */
export type Alert = Finding & {
  readonly state: 'open' | 'resolved';
  /** Grows with each change. A change of an older version is refused, so that two gateways announce it once. */
  readonly version: number;
  /** How often it was opened. */
  readonly episode: number;
  readonly sinceMs: number;
  readonly resolvedAtMs?: number;
  /** Only of observed rules: the bad parts by name. */
  readonly members: Readonly<Record<string, AlertMember>>;
  /** The channels that its opening was sent to. They also get its end. */
  readonly channels: readonly string[];
};

/**
 * An observation of one gateway. There is none about a part that it has not used, so that a restart ends no alert.
 */
export type Observation = {
  readonly rule: AlertRule;
  readonly subject: string;
  /** The part of the subject: a model, a credential, a user. Empty if there is one only. */
  readonly member: string;
  readonly state: 'bad' | 'good';
  /** What happened, for the summary. */
  readonly detail?: string;
};

/** Whether something belongs to one of the rules. */
export function isOfRule(rules: readonly AlertRule[]): (each: { readonly rule: AlertRule }) => boolean {
  return ({ rule }) => rules.includes(rule);
}
