import { Type } from 'typebox';

import { operation } from '../../define-operation.ts';
import { request } from '../../contract/values.ts';
import type { AdminContext } from '../../operation.ts';
import { answerStarted, operationSchema } from '../operations/operation-resource.ts';
import {
  type AskedInterface,
  askedInterfaces,
  type CallModelServices,
  type Explanation,
  modelParams,
  requireKey,
} from './explain-model.ts';

/** The kind of the operations that call a model for a test. */
export const testKind = 'models.test';

export type TestInput = {
  readonly model: string;
  /** All that the model has if empty. */
  readonly interfaces: readonly AskedInterface[];
  readonly stream: boolean;
  readonly key_id: string;
};

type Money = NonNullable<Explanation['cost']>['minimum'];

/** The outcome of one call. The result of the operation has one for each interface, in their order. */
export type TestedInterface = {
  readonly interface: AskedInterface;
  /** `skipped`: not called, for the reason in `detail`. */
  readonly verdict: 'passed' | 'failed' | 'refused' | 'skipped';
  readonly detail: string | null;
  /** Before the call: the first target, the most that it could cost. */
  readonly target: string | null;
  readonly maximum: Money | null;
  /** Of the call; null if it was not made. */
  readonly call_id: string | null;
  readonly status: number | null;
  readonly first_byte_ms: number | null;
  readonly total_ms: number | null;
  /** From its receipt. */
  readonly amount: Money | null;
  readonly served_by: string | null;
  readonly notes: readonly { readonly kind: string; readonly field: string; readonly reason: string }[];
};

export const testModel = operation({
  id: 'models.test',
  method: 'POST',
  path: '/models/{name}/test',
  summary: 'Calls a model once for each interface with the rights of a key, which pays for it; each answer is a few words',
  access: 'upstreams:write',
  keyRequired: true,
  status: 202,
  params: modelParams,
  body: request({
    key_id: Type.String({ minLength: 1, maxLength: 64, description: 'The key whose rights the calls have, and in whose books they are.' }),
    interfaces: Type.Optional(
      Type.Array(Type.Enum(askedInterfaces), {
        maxItems: askedInterfaces.length,
        uniqueItems: true,
        description: 'Unless given: those of chats for a chat model, otherwise what the model does, except images and videos.',
      }),
    ),
    stream: Type.Optional(Type.Boolean({ description: 'Whether chats are streamed. Default: true.' })),
  }),
  reply: operationSchema,
  handle: async ({ params: { name }, body }, context: AdminContext<CallModelServices>) => {
    await requireKey(context, body.key_id);
    const input: TestInput = { model: name, interfaces: body.interfaces ?? [], stream: body.stream ?? true, key_id: body.key_id };
    const started = await context.services.operations.start({
      kind: testKind,
      permission: 'upstreams:write',
      input,
      change: context.change(),
      isAudited: true,
      startWithinMs: 30_000,
    });
    return answerStarted(started);
  },
});
