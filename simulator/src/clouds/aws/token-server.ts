import { type IncomingMessage, type Server, type ServerResponse } from 'node:http';

import { createWholeServer } from '../whole-request.ts';
import type { AwsState, IssuedKeys } from './aws-state.ts';
import { verifySignature } from './verify-signature.ts';

/** The role of the simulated instance. */
const instanceRole = 'weir-instance';
const metadataToken = 'simulated-metadata-token';
/** The token that web identity accepts, and the one of the container service. */
export const webIdentityToken = 'simulated.web.identity';
export const containerToken = 'simulated-container-token';

/**
 * The services that issue keys, on one port: STS at `/`, the metadata of an instance (version 2 only) below `/latest`,
 * and the credential service of a container at `/credentials`.
 */
export function createTokenServer(state: AwsState): Server {
  return createWholeServer((request, response, body) => answer(state, request, response, body));
}

function answer(state: AwsState, request: IncomingMessage, response: ServerResponse, body: Buffer): void {
  const { method = '', url = '/', headers } = request;
  state.tokenRequests.push(`${method} ${url}`);
  const reply = (status: number, text: string, type = 'text/plain'): void => {
    response.writeHead(status, { 'content-type': type });
    response.end(text);
  };
  if (state.tokensAreDown) return reply(503, 'unavailable');
  if (state.throttledTokens > 0) {
    state.throttledTokens -= 1;
    return reply(429, 'throttled');
  }
  if (url === '/' && method === 'POST') return answerSts(state, request, body, (status, xml) => reply(status, xml, 'text/xml'));
  if (url === '/credentials')
    return headers.authorization === containerToken ? reply(200, asJson(state.issue()), 'application/json') : reply(401, 'unauthorized');
  if (url === '/latest/api/token') return method === 'PUT' ? reply(200, metadataToken) : reply(405, '');
  if (headers['x-aws-ec2-metadata-token'] !== metadataToken) return reply(401, 'unauthorized');
  if (url === '/latest/meta-data/iam/security-credentials/') return reply(200, instanceRole);
  if (url === `/latest/meta-data/iam/security-credentials/${instanceRole}`) return reply(200, asJson(state.issue()), 'application/json');
  reply(404, 'not found');
}

const timeOf = (ms: number | undefined): string => new Date(ms ?? 0).toISOString().replace(/\.\d{3}Z$/, 'Z');

function asJson({ accessKeyId, secretAccessKey, sessionToken, expiresAtMs }: IssuedKeys): string {
  return JSON.stringify({
    Code: 'Success',
    Type: 'AWS-HMAC',
    AccessKeyId: accessKeyId,
    SecretAccessKey: secretAccessKey,
    Token: sessionToken,
    Expiration: timeOf(expiresAtMs),
  });
}

function answerSts(state: AwsState, { headers }: IncomingMessage, body: Buffer, reply: (status: number, xml: string) => void): void {
  const form = new URLSearchParams(body.toString());
  const fail = (status: number, code: string, message: string): void =>
    reply(status, `<ErrorResponse><Error><Code>${code}</Code><Message>${message}</Message></Error></ErrorResponse>`);
  const action = form.get('Action');
  const role = form.get('RoleArn') ?? '';
  if (action === 'AssumeRoleWithWebIdentity') {
    if (form.get('WebIdentityToken') !== webIdentityToken) return fail(400, 'InvalidIdentityToken', 'The token is not valid');
  } else if (action === 'AssumeRole') {
    const plain = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
    const scope = { region: state.region, service: 'sts' };
    const refusal = verifySignature({ method: 'POST', target: '/', headers: plain, body }, scope, state.findKeys, state.nowMs());
    if (refusal !== undefined) return fail(403, refusal.type, refusal.message);
    if (role.endsWith('/needs-external-id') && form.get('ExternalId') !== 'outside')
      return fail(403, 'AccessDenied', `User is not authorized to perform: sts:AssumeRole on resource: ${role}`);
  } else return fail(400, 'InvalidAction', 'Could not find operation');
  const { accessKeyId, secretAccessKey, sessionToken, expiresAtMs } = state.issue();
  const credentials = `<AccessKeyId>${accessKeyId}</AccessKeyId><SecretAccessKey>${secretAccessKey}</SecretAccessKey><SessionToken>${sessionToken}</SessionToken><Expiration>${timeOf(expiresAtMs)}</Expiration>`;
  const user = `<AssumedRoleUser><Arn>${role.replace(':iam:', ':sts:').replace(':role/', ':assumed-role/')}/weir</Arn></AssumedRoleUser>`;
  reply(200, `<${action}Response><${action}Result><Credentials>${credentials}</Credentials>${user}</${action}Result></${action}Response>`);
}
