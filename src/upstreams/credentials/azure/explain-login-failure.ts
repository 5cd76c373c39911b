import { filledText } from '../../../platform/json/json-readers.ts';

/** What to do about the refusals that operators meet, by the number that Entra ID gives them. */
const advice: Readonly<Record<number, string>> = {
  90002: 'the tenant does not exist: check tenantId',
  700016: 'the application does not exist in this tenant: check clientId and tenantId',
  7000215: 'the client secret is wrong: use its value, not its id, and create a new one if it is lost',
  7000222: 'the client secret has expired: create a new one',
  70021: 'no federated credential matches: its issuer, subject and audience must be those of the service account',
  700024: 'the token of the service account has expired: is the clock right, and does the cluster renew the file?',
  700213: 'no federated credential matches the subject of the service account',
  1002012: 'the scope is wrong: it must end in /.default',
  500011: 'the resource of the scope is unknown in this tenant: check scope',
};

/** Words why no token came, without anything secret. */
export function explainLoginFailure(status: number, members: Readonly<Record<string, unknown>>): string {
  const description = filledText(members['error_description']) ?? filledText(members['message']) ?? '';
  const number = Number(/^AADSTS(\d+)/.exec(description)?.[1] ?? Number.NaN);
  const known = advice[number];
  if (known !== undefined) return `AADSTS${number}: ${known}`;
  if (/identity not found|no managed identity/i.test(description))
    return 'this machine has no such managed identity: assign one, or correct clientId';
  if (status === 429) return 'the service answers 429: too many requests for tokens';
  const error = filledText(members['error']) ?? '';
  // The description ends with numbers that mean something only to the vendor's support.
  const words = [error, description.replace(/\s*(?:Trace ID|Correlation ID|Timestamp):.*$/s, '')].filter((part) => part !== '').join(': ');
  return `the service answers ${status}${words === '' ? '' : `, ${words.slice(0, 300)}`}`;
}
