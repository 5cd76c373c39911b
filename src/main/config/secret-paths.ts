/** Names of members whose values are secrets wherever they occur. */
const secretNames = /^(?:apiKeys?|clientSecret|secret|sessionToken|secretAccessKey|accessKeyId|password|proxy|headers)$/;
/** Addresses that may contain a password, or are known to one receiver only. */
const secretPaths =
  /^(?:database\.\w*[uU]rl|alerts\.channels\..+\.url|audit\.sinks\..+\.headers\..+|upstreams\..+\.credential\.json|secrets\.vault\.login\.(?:token|secretId)|secrets\.google\.json)$/;

/** Whether the value at a path is a secret. */
export function isSecretPath(path: readonly (string | number)[]): boolean {
  return path.some((step) => secretNames.test(String(step))) || secretPaths.test(path.join('.'));
}
