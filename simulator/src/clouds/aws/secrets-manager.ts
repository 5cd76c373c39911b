import type { Server } from 'node:http';

import { replyJson } from '../reply-json.ts';
import { createWholeServer } from '../whole-request.ts';
import type { AwsState } from './aws-state.ts';
import { verifySignature } from './verify-signature.ts';

/** The secrets of a simulated account, which tests change while it runs. */
export type SecretsManagerState = {
  /** By name; binary secrets are bytes. */
  readonly secrets: Map<string, string | Buffer>;
  /** Names that the caller may not read. */
  readonly withoutRight: Set<string>;
  readonly markedForDeletion: Set<string>;
  /** Every request is answered with this status. 0: it works. */
  failingStatus: number;
  readonly requests: { readonly name: string; readonly status: number }[];
};

export const createSecretsManagerState = (): SecretsManagerState => ({
  secrets: new Map(),
  withoutRight: new Set(),
  markedForDeletion: new Set(),
  failingStatus: 0,
  requests: [],
});

type Reply = { readonly status: number; readonly body: object };
const refuse = (type: string, message: string): Reply => ({ status: 400, body: { __type: type, Message: message } });

/** AWS Secrets Manager, GetSecretValue, with verified signatures. */
export function createSecretsManager(aws: AwsState, state: SecretsManagerState): Server {
  return createWholeServer((request, response, body) => {
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    const name = nameIn(body);
    const answer = (): Reply => {
      if (state.failingStatus > 0) return { status: state.failingStatus, body: { __type: 'InternalServiceError', message: 'simulated' } };
      const scope = { region: aws.region, service: 'secretsmanager' };
      const target = request.url ?? '/';
      const refusal = verifySignature({ method: request.method ?? '', target, headers, body }, scope, aws.findKeys, aws.nowMs());
      if (refusal !== undefined) return { status: 400, body: { __type: refusal.type, message: refusal.message } };
      if (headers['x-amz-target'] !== 'secretsmanager.GetSecretValue' || headers['content-type'] !== 'application/x-amz-json-1.1')
        return refuse('UnknownOperationException', '');
      return getValue(state, name);
    };
    const reply = answer();
    state.requests.push({ name, status: reply.status });
    replyJson(response, reply.status, reply.body);
  });
}

function nameIn(body: Buffer): string {
  try {
    return String((JSON.parse(body.toString()) as { readonly SecretId?: unknown }).SecretId);
  } catch {
    return '';
  }
}

function getValue(state: SecretsManagerState, name: string): Reply {
  if (state.withoutRight.has(name)) {
    const words = `User: arn:aws:sts::123456789012:assumed-role/weir is not authorized to perform: secretsmanager:GetSecretValue on resource: ${name}`;
    return refuse('AccessDeniedException', words);
  }
  const value = state.secrets.get(name);
  if (value === undefined) return refuse('ResourceNotFoundException', "Secrets Manager can't find the specified secret.");
  if (state.markedForDeletion.has(name))
    return refuse('InvalidRequestException', "You can't perform this operation on the secret because it was marked for deletion.");
  const content = typeof value === 'string' ? { SecretString: value } : { SecretBinary: value.toString('base64') };
  return { status: 200, body: { ARN: `arn:aws:secretsmanager:us-east-1:123456789012:secret:${name}-AbCdEf`, Name: name, ...content } };
}
