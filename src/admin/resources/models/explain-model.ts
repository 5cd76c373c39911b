import { type Static, Type } from 'typebox';

import type { AccountsStore } from '../../../accounts/accounts-store.ts';
import { findUserNamed } from '../../../accounts/user-query.ts';
import { type ModelKind, modelKindNames } from '../../../inference/interfaces.ts';
import { moneySchema, nullable, record, request } from '../../contract/values.ts';
import { operation } from '../../define-operation.ts';
import type { AdminContext } from '../../operation.ts';
import { invalidField, notFound, unavailable } from '../../problem.ts';
import type { OperationServices } from '../operations/operation-resource.ts';

export type CallModelServices = OperationServices & { readonly accounts: Pick<AccountsStore, 'queryApiKeys' | 'queryUsers'> };
type Context = AdminContext<CallModelServices>;

/** The kind of the question to a gateway. */
export const explainKind = 'models.explain';

/** How a model is called: by an interface of chats, or by what models of other kinds do. */
export type AskedInterface = (typeof chatInterfaces)[number] | Exclude<ModelKind, 'chat'>;

export const chatInterfaces = ['openai-chat', 'openai-responses', 'anthropic-messages', 'gemini-generate-content'] as const;
export const askedInterfaces: readonly AskedInterface[] = [...chatInterfaces, ...modelKindNames.filter((kind) => kind !== 'chat')];

const leftOutReasons = [
  'taken-out',
  'not-allowed',
  'other-kind',
  'stateless',
  'condition',
  'inexpressible',
  'failing',
  'rate-limited',
  'rejected',
] as const;

const tokensMax = 1_000_000;
/** A gateway looks for questions once a second. */
const answerMsMax = 8000;

const place = {
  id: Type.String({ description: 'The credential and the name at the upstream.', examples: ['openai/gpt-5-mini'] }),
  upstream: Type.String(),
  model: Type.String({ description: 'The name at the upstream.' }),
  tier: nullable(Type.Integer({ description: 'The targets of tier 1 are called first, in the order for this interface.' })),
  share: nullable(Type.Number({ description: 'Of the calls of its tier, from 0 to 1.' })),
};

const bounds = { minimum: moneySchema, expected: moneySchema, maximum: moneySchema };

const explanationSchema = record(
  {
    model: Type.String(),
    interface: Type.Enum(askedInterfaces),
    path: Type.String({ description: 'Where a client would send the call.' }),
    node: Type.String({ description: 'The gateway that answers: the health of targets is that of its process.' }),
    caller: nullable(record({ user: Type.String(), key: nullable(Type.String({ description: 'Its name.' })) })),
    targets: Type.Array(
      record({
        ...place,
        state: Type.Enum(['healthy', 'suspect', 'probe', 'failing', 'rate-limited', 'rejected'], {
          description: 'probe: it failed, and this call would test whether it works again.',
        }),
        way: nullable(Type.Enum(['passes', 'translated'], { description: 'null for calls that are not chats.' })),
        notes: nullable(
          Type.Array(record({ kind: Type.String(), field: Type.String(), reason: Type.String() }), {
            description: 'What the translation changes and loses; null if that depends on media that only a real call fetches.',
          }),
        ),
        price_id: nullable(Type.String({ description: 'null if the call has no price there.' })),
        ...bounds,
        held: moneySchema,
      }),
      { description: 'In the order of attempts; empty if the call would be refused.' },
    ),
    left_out: Type.Array(
      record({
        ...place,
        reason: Type.Enum(leftOutReasons),
        detail: Type.String(),
        again_in_ms: nullable(Type.Integer({ description: 'Time until a call may probe it.' })),
      }),
    ),
    refusal: nullable(record({ code: Type.String(), message: Type.String() }, 'Why the call would not be sent, as its client reads it.')),
    cost: nullable(
      record({ ...bounds, held: nullable(moneySchema) }, 'Whichever target answers. held is null if nothing limits the payer.'),
    ),
    credit: Type.Enum(['unknown', 'unlimited', 'covered', 'refused'], {
      description: 'Whether the caller has credit for it at this moment; unknown without a caller.',
    }),
  },
  'Where a call would go, and why not elsewhere. Nothing is sent.',
);
export type Explanation = Static<typeof explanationSchema>;

/** The facts of the call, as a gateway gets them. */
export type ExplainInput = {
  readonly model: string;
  readonly interface: AskedInterface | null;
  readonly stream: boolean;
  readonly images: boolean;
  readonly tools: boolean;
  readonly input_tokens: number | null;
  readonly output_tokens_max: number | null;
  readonly key_id: string | null;
  readonly user: string | null;
};

export const modelParams = record({ name: Type.String({ minLength: 1, maxLength: 256, description: 'As clients ask for it.' }) });

/** @throws AdminProblem `not_found` for a key that the caller may not see */
export async function requireKey({ services, principal }: Context, id: string): Promise<void> {
  const [key] = await services.accounts.queryApiKeys({ users: principal.users, ids: [id], order: 'oldest', limit: 1 });
  if (key === undefined) throw notFound('key of this id');
}

export const explainModel = operation({
  id: 'models.explain',
  method: 'POST',
  path: '/models/{name}/explain',
  summary: 'Where a call of this name would go now, which targets are left out and why, what translation loses, and the cost',
  access: 'upstreams:read',
  params: modelParams,
  body: request({
    interface: Type.Optional(
      Type.Enum(askedInterfaces, { description: 'Unless given, the one that the first target speaks, or what the model does.' }),
    ),
    stream: Type.Optional(Type.Boolean()),
    images: Type.Optional(Type.Boolean({ description: 'Whether the message has an image.' })),
    tools: Type.Optional(Type.Boolean({ description: 'Whether a tool is offered.' })),
    input_tokens: Type.Optional(
      Type.Integer({ minimum: 1, maximum: tokensMax, description: 'About so many; a short sentence unless given.' }),
    ),
    output_tokens_max: Type.Optional(Type.Integer({ minimum: 1, maximum: tokensMax, description: 'The limit that the client sets.' })),
    key_id: Type.Optional(Type.String({ minLength: 1, maxLength: 64, description: 'With the rights and limits of this key.' })),
    user: Type.Optional(Type.String({ minLength: 1, maxLength: 256, description: 'With those of this user, without a key.' })),
  }),
  reply: explanationSchema,
  handle: async ({ params: { name }, body }, context: Context) => {
    const { services, principal } = context;
    const { key_id = null, user = null } = body;
    if (key_id !== null && user !== null) throw invalidField('/user', 'conflict', 'The field user must not be given beside key_id.');
    if (key_id !== null) await requireKey(context, key_id);
    if (user !== null && (await findUserNamed(services.accounts, principal.users, user)) === undefined) throw notFound('user of this name');
    const input: ExplainInput = {
      model: name,
      interface: body.interface ?? null,
      stream: body.stream ?? false,
      images: body.images ?? false,
      tools: body.tools ?? false,
      input_tokens: body.input_tokens ?? null,
      output_tokens_max: body.output_tokens_max ?? null,
      key_id,
      user,
    };
    return { body: await askGateway(context, input) };
  },
});

/** Only gateways know routes and health, so one of them answers. @throws AdminProblem `unavailable` */
async function askGateway({ services, change, signal }: Context, input: ExplainInput): Promise<Explanation> {
  const { id } = await services.operations.start({
    kind: explainKind,
    permission: 'upstreams:read',
    input,
    change: change(),
    isAudited: false,
    startWithinMs: answerMsMax,
  });
  const waited = AbortSignal.any([signal, AbortSignal.timeout(answerMsMax + 2000)]);
  const { result, problem } = await services.operations.ended(id, waited).catch((error: unknown) => {
    throw signal.aborted ? error : unavailable('No gateway has answered in time: is one running?', error);
  });
  if (problem !== undefined) throw unavailable(`A gateway could not explain the call: ${problem.detail}`);
  // Written by the gateway's operation.
  return result as Explanation;
}
