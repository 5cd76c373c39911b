/** What may be done with a call whose client has left: see DisconnectPolicy of the ledger, whose words these are. */
export const disconnectPolicies = ['abort', 'drain', 'deliver'] as const;

export type KeyDisconnectPolicy = (typeof disconnectPolicies)[number];

export function isDisconnectPolicy(word: unknown): word is KeyDisconnectPolicy {
  return disconnectPolicies.some((policy) => policy === word);
}
