import { filledText } from '../../../platform/json/json-readers.ts';
import { openAwsKeys } from '../aws/aws-credential.ts';
import { dnsSuffixOf } from '../aws/regions.ts';
import { createAwsSigner } from '../aws/sign-request.ts';
import { CredentialError } from '../credential-source.ts';
import type { CredentialMeans } from '../credential-means.ts';
import type { TokenReply } from '../token-client.ts';
import { askCloud, bodyOf, pickMember } from './read-cloud-secret.ts';
import { SecretRefusedError, type SecretStore } from './secret-store.ts';
import type { SecretsSettings } from './secrets-schema.ts';

type Signer = ReturnType<typeof createAwsSigner>;

/** Kinds of refusals that another credential may repair. */
const credentialErrors = /ExpiredToken|UnrecognizedClient|InvalidClientTokenId|InvalidSignature/;
const kindOf = (reply: TokenReply): string => /([A-Za-z]+)$/.exec(filledText(bodyOf(reply)['__type']) ?? '')?.[1] ?? '';

/** AWS Secrets Manager, GetSecretValue. Source: its API reference. */
export function openAwsSecrets(settings: SecretsSettings, means: CredentialMeans): SecretStore {
  const { region: configured, url, ...aws } = settings.aws ?? {};
  const usual = configured ?? means.variable('AWS_REGION') ?? means.variable('AWS_DEFAULT_REGION');
  const credential = openAwsKeys({ kind: 'aws', ...aws }, usual === undefined ? {} : { region: usual }, means);
  const signers = new Map<string, Signer>();
  return {
    title: 'AWS Secrets Manager',
    credential,
    close: () => credential.close(),
    read: async (reference, signal) => {
      const region = /^arn:[a-z-]+:secretsmanager:([a-z0-9-]+):/.exec(reference.place)?.[1] ?? usual;
      if (region === undefined) throw new SecretRefusedError('its region is not known: set secrets.aws.region or AWS_REGION');
      const address = new URL(url ?? `https://secretsmanager.${region}.${dnsSuffixOf(region)}`);
      const sign = signers.getOrInsertComputed(region, () => createAwsSigner({ region, service: 'secretsmanager' }));
      const body = JSON.stringify({ SecretId: reference.place });
      const reply = await askCloud(
        credential,
        (keys) => ({
          url: `${address.origin}/`,
          method: 'POST',
          body,
          headers: {
            'content-type': 'application/x-amz-json-1.1',
            'x-amz-target': 'secretsmanager.GetSecretValue',
            ...sign({ method: 'POST', path: '/', host: address.host, body: Buffer.from(body) }, keys, means.clock.nowMs()),
          },
        }),
        (answer) => credentialErrors.test(kindOf(answer)),
        { means, signal },
      );
      if (reply.status !== 200) throw explain(reply, region);
      const value = filledText(bodyOf(reply)['SecretString']);
      if (value === undefined) throw new SecretRefusedError('it is binary, and a text is expected');
      return { value: pickMember(value, reference) };
    },
  };
}

function explain(reply: TokenReply, region: string): CredentialError {
  const kind = kindOf(reply);
  const words = filledText(bodyOf(reply)['message'] ?? bodyOf(reply)['Message'])?.slice(0, 300) ?? '';
  const said = `${kind === '' ? String(reply.status) : kind}${words === '' ? '' : `: ${words}`}`;
  if (kind === 'ResourceNotFoundException')
    return new SecretRefusedError(`there is no such secret in ${region}: check its name and secrets.aws.region`);
  if (kind === 'AccessDeniedException')
    return new SecretRefusedError(
      `the identity may not read it: allow secretsmanager:GetSecretValue, and kms:Decrypt if it has a key of its own (${said})`,
    );
  if (kind === 'InvalidRequestException') return new SecretRefusedError(`it is marked for deletion (${said})`);
  if (/not yet current|Signature expired/.test(words)) return new SecretRefusedError(`the clock of this machine is wrong (${said})`);
  if (credentialErrors.test(kind)) return new SecretRefusedError(`AWS refuses the keys: check them and the region ${region} (${said})`);
  return new CredentialError(`Secrets Manager answers ${said}`);
}
