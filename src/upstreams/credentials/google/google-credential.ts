import { filledText, membersOf } from '../../../platform/json/json-readers.ts';
import { parseIfJson } from '../../../platform/json/parse-if-json.ts';
import type { CloudCredential } from '../cloud-credential.ts';
import type { CredentialKindOf } from '../credential-kind.ts';
import type { CredentialMeans } from '../credential-means.ts';
import { CredentialError } from '../credential-source.ts';
import { readNamedFile, readUsualFile } from '../read-file.ts';
import { refreshCredentials } from '../refresh-credentials.ts';
import type { TokenReply } from '../token-client.ts';
import type { GoogleSettings } from './google-schema.ts';
import { fetchWithDocument, type KeyDocument } from './key-file.ts';
import { type GoogleToken, readToken } from './read-token.ts';

/** Tokens of Google Cloud, from the place where Google's own libraries find a credential. */
export const googleCredential: CredentialKindOf<GoogleSettings> = {
  title: 'Google Cloud',
  open: (settings, _facts, means) =>
    refreshCredentials<CloudCredential>({
      clock: means.clock,
      watch: means.watch,
      fetch: (signal) => fetchToken(settings, means, signal),
    }),
};

async function fetchToken(settings: GoogleSettings, means: CredentialMeans, signal: AbortSignal): Promise<GoogleToken> {
  const document = await findDocument(settings, means, signal);
  return document === undefined ? await fetchFromMetadata(settings, means, signal) : await fetchWithDocument(document, means, signal);
}

/** The document with the credential. Undefined: the metadata server has it. @throws CredentialError */
async function findDocument(
  { file, json, from }: GoogleSettings,
  means: CredentialMeans,
  signal: AbortSignal,
): Promise<KeyDocument | undefined> {
  if (json !== undefined) return { text: json, origin: 'configuration' };
  if (file !== undefined) return { text: await readNamedFile('credential.file', file, means, signal), origin: file };
  const named = filledText(means.variable('GOOGLE_APPLICATION_CREDENTIALS'));
  if (named !== undefined && (from ?? 'variable') === 'variable')
    return { text: await readNamedFile('GOOGLE_APPLICATION_CREDENTIALS', named, means, signal), origin: 'GOOGLE_APPLICATION_CREDENTIALS' };
  if (from === 'variable') throw new CredentialError('credential.from is variable, and GOOGLE_APPLICATION_CREDENTIALS is not set');
  if (from === 'metadata') return undefined;
  const directory = filledText(means.variable('CLOUDSDK_CONFIG')) ?? `${means.homeDirectory}/.config/gcloud`;
  const usual = `${directory}/application_default_credentials.json`;
  if (from === 'user-file') return { text: await readNamedFile('credential.from', usual, means, signal), origin: usual };
  const text = await readUsualFile(usual, means, signal);
  return text === undefined ? undefined : { text, origin: usual };
}

const metadataPath = '/computeMetadata/v1/instance/service-accounts/default/token';

async function fetchFromMetadata(settings: GoogleSettings, means: CredentialMeans, signal: AbortSignal): Promise<GoogleToken> {
  const origin = 'metadata server';
  const host = filledText(means.variable('GCE_METADATA_HOST'));
  const base = (settings.metadataUrl ?? `http://${host ?? 'metadata.google.internal'}`).replace(/\/+$/, '');
  const nowMs = means.clock.nowMs();
  let reply: TokenReply;
  try {
    const headers = { 'metadata-flavor': 'Google' };
    reply = await means.ask({ url: base + metadataPath, method: 'GET', headers, isLocal: true }, signal);
  } catch (cause) {
    const searched = settings.from === 'metadata' ? '' : 'no credential file was found, and ';
    throw new CredentialError(
      `${searched}${base} does not answer: set credential.file or GOOGLE_APPLICATION_CREDENTIALS, or run on Google Cloud`,
      { cause },
    );
  }
  if (reply.status === 404) throw new CredentialError(`${origin}: this machine has no service account: attach one to it`);
  if (reply.status !== 200)
    throw new CredentialError(`${origin}: it answers ${reply.status}${reply.status === 429 ? ', too many requests' : ''}`);
  return readToken(membersOf(parseIfJson(reply.body)), { origin, nowMs });
}
