/** The reactions to a client that disconnects: the values of DisconnectPolicy of the ledger. */
export const disconnectPolicies = ['abort', 'drain', 'deliver'] as const;

export type KeyDisconnectPolicy = (typeof disconnectPolicies)[number];

export function isDisconnectPolicy(value: unknown): value is KeyDisconnectPolicy {
  return disconnectPolicies.some((policy) => policy === value);
}
