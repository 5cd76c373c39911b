import { join } from 'node:path';

import type { AccountFacts } from '../../account-facts.ts';
import type { CloudCredential } from '../cloud-credential.ts';
import type { CredentialMeans } from '../credential-means.ts';
import { CredentialError } from '../credential-source.ts';
import { readNamedFile, readUsualFile } from '../read-file.ts';
import type { FetchedCredential } from '../refresh-credentials.ts';
import type { AwsSettings } from './aws-schema.ts';
import { type IniSections, readIni } from './read-ini.ts';
import { keysOf, readKeysJson, readStsReply } from './read-keys.ts';
import { askSts, stsUrlOf } from './sts.ts';

/** What the places are searched with. */
export type Search = {
  readonly settings: AwsSettings;
  readonly facts: AccountFacts;
  readonly means: CredentialMeans;
  readonly signal: AbortSignal;
};

/** A place that may have credentials. Undefined: there are none, and the next place is searched. */
type Place = (search: Search) => Promise<FetchedCredential<CloudCredential> | undefined>;

/** Keys of the environment. */
export const fromEnvironment: Place = async ({ means: { variable }, signal }) => {
  signal.throwIfAborted();
  const id = variable('AWS_ACCESS_KEY_ID');
  const secret = variable('AWS_SECRET_ACCESS_KEY');
  if (id === undefined && secret === undefined) return undefined;
  if (id === undefined || secret === undefined)
    throw new CredentialError(
      `${id === undefined ? 'AWS_ACCESS_KEY_ID' : 'AWS_SECRET_ACCESS_KEY'} is not set, and the other of the two is`,
    );
  return { origin: 'environment', credential: keysOf(id, secret, variable('AWS_SESSION_TOKEN')) };
};

/** An API key of Bedrock. A stale one hides good keys in later places, as in AWS's own SDKs. */
export const fromBearerVariable: Place = async ({ means: { variable }, signal }) => {
  signal.throwIfAborted();
  const token = variable('AWS_BEARER_TOKEN_BEDROCK');
  return token === undefined ? undefined : { origin: 'AWS_BEARER_TOKEN_BEDROCK', credential: { kind: 'bearer', token } };
};

/** A signed token of Kubernetes (EKS), which STS exchanges. The file is read each time, because it is renewed. */
export const fromWebIdentity: Place = async (search) => {
  const { means, signal } = search;
  const path = means.variable('AWS_WEB_IDENTITY_TOKEN_FILE');
  const role = means.variable('AWS_ROLE_ARN');
  if (path === undefined || role === undefined) return undefined;
  const token = (await readNamedFile('AWS_WEB_IDENTITY_TOKEN_FILE', path, means, signal)).trim();
  const form = new URLSearchParams({
    Action: 'AssumeRoleWithWebIdentity',
    Version: '2011-06-15',
    RoleArn: role,
    RoleSessionName: means.variable('AWS_ROLE_SESSION_NAME') ?? 'weir',
    WebIdentityToken: token,
  });
  const url = stsUrlOf(search);
  const headers = { 'content-type': 'application/x-www-form-urlencoded', accept: 'text/xml' };
  const reply = await askSts(means, { url, method: 'POST', headers, body: form.toString() }, signal);
  return { origin: 'web identity', ...readStsReply(reply.status, reply.body, `AssumeRoleWithWebIdentity for ${role}`) };
};

/** A profile of `~/.aws`: keys, or a command that prints them. */
export const fromProfile: Place = async ({ settings, means, signal }) => {
  const { variable, homeDirectory } = means;
  const named = settings.profile ?? variable('AWS_PROFILE');
  const name = named ?? 'default';
  const folder = join(homeDirectory, '.aws');
  const keys = (await readSections(means, variable('AWS_SHARED_CREDENTIALS_FILE') ?? join(folder, 'credentials'), signal))?.get(name);
  const sections = await readSections(means, variable('AWS_CONFIG_FILE') ?? join(folder, 'config'), signal);
  const config = sections?.get(`profile ${name}`) ?? (name === 'default' ? sections?.get('default') : undefined);
  if (keys === undefined && config === undefined) {
    if (named === undefined) return undefined;
    throw new CredentialError(`there is no profile "${named}" in ~/.aws/config or ~/.aws/credentials of this process's user`);
  }
  const {
    aws_access_key_id: id,
    aws_secret_access_key: secret,
    aws_session_token: token,
    credential_process: command,
  } = { ...config, ...keys };
  const origin = `profile ${name}`;
  if (id !== undefined && secret !== undefined) return { origin, credential: keysOf(id, secret, token) };
  if (command !== undefined)
    return { origin, ...readKeysJson(await means.run(command, signal), `credential_process of the profile "${name}"`) };
  if (named === undefined) return undefined;
  throw new CredentialError(
    `the profile "${name}" has neither keys nor credential_process; for SSO, set credential_process = aws configure export-credentials --profile ${name} --format process`,
  );
};

/** The credential service of a container (ECS, EKS pod identity). */
export const fromContainer: Place = async ({ means, signal }) => {
  const { variable } = means;
  const relative = variable('AWS_CONTAINER_CREDENTIALS_RELATIVE_URI');
  const url = relative === undefined ? variable('AWS_CONTAINER_CREDENTIALS_FULL_URI') : `http://169.254.170.2${relative}`;
  if (url === undefined) return undefined;
  const tokenPath = variable('AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE');
  const token =
    tokenPath === undefined
      ? variable('AWS_CONTAINER_AUTHORIZATION_TOKEN')
      : (await readNamedFile('AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE', tokenPath, means, signal)).trim();
  const reply = await means.ask(
    { url, method: 'GET', isLocal: true, headers: token === undefined ? {} : { authorization: token } },
    signal,
  );
  if (reply.status !== 200) throw new CredentialError(`the credential service of the container answered ${reply.status}`);
  return { origin: 'container', ...readKeysJson(reply.body, 'the credential service of the container') };
};

/** How long the metadata service may take to answer. Where there is none, its address does not answer at all. */
const metadataTimeoutMs = 2_000;
const metadataTokenSeconds = 21_600;

/** The metadata of an EC2 instance, version 2: a token, the name of the role, its credentials. */
export const fromInstance: Place = async ({ settings, means, signal }) => {
  if (means.variable('AWS_EC2_METADATA_DISABLED')?.toLowerCase() === 'true') return undefined;
  const base = (means.variable('AWS_EC2_METADATA_SERVICE_ENDPOINT') ?? 'http://169.254.169.254').replace(/\/+$/, '');
  const common = { isLocal: true, timeoutMs: metadataTimeoutMs };
  const asked = await means
    .ask(
      {
        ...common,
        url: `${base}/latest/api/token`,
        method: 'PUT',
        headers: { 'x-aws-ec2-metadata-token-ttl-seconds': String(metadataTokenSeconds) },
      },
      signal,
    )
    .catch((error: unknown) => {
      if (settings.from !== 'instance') return undefined;
      throw new CredentialError(
        `the metadata service of the instance does not answer (${base}); is this an EC2 instance with a role, and is its hop limit 2 for containers?`,
        { cause: error },
      );
    });
  if (asked === undefined) return undefined;
  if (asked.status !== 200)
    throw new CredentialError(`the metadata service of the instance answered ${asked.status} to the request for a session token`);
  const headers = { 'x-aws-ec2-metadata-token': asked.body };
  const list = `${base}/latest/meta-data/iam/security-credentials/`;
  const roles = await means.ask({ ...common, url: list, method: 'GET', headers }, signal);
  if (roles.status === 404) throw new CredentialError('this instance has no role: attach an instance profile');
  const role = roles.body.split('\n')[0]?.trim() ?? '';
  if (roles.status !== 200 || role === '')
    throw new CredentialError(`the metadata service of the instance answered ${roles.status} about its role`);
  const reply = await means.ask({ ...common, url: list + encodeURIComponent(role), method: 'GET', headers }, signal);
  if (reply.status !== 200) throw new CredentialError(`the metadata service of the instance answered ${reply.status} for the role ${role}`);
  return { origin: 'instance metadata', identity: role, ...readKeysJson(reply.body, 'the metadata service of the instance') };
};

async function readSections(means: CredentialMeans, path: string, signal: AbortSignal): Promise<IniSections | undefined> {
  const text = await readUsualFile(path, means, signal);
  return text === undefined ? undefined : readIni(text);
}
