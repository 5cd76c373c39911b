import Type, { type Static } from 'typebox';

// Version 1 of the receipt: docs/reference/receipt.md describes it, OpenAPI contains this schema, and verifyReceipt
// checks receipts with it.

/** Name and version of the schema: renaming a member, or changing its meaning, requires a new version. */
export const receiptForm = { schema: 'weir.receipt', version: 1 } as const;

const orNull = <Schema extends Type.TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);
const closed = { additionalProperties: false } as const;
const Text = Type.String();
const Count = Type.Integer({ minimum: 0 });
const Milliseconds = Type.Integer({ minimum: 0 });

const Money = Type.Object(
  {
    nano_usd: Type.String({ pattern: '^-?[0-9]{1,30}$', description: 'Billionths of a USD, as an integer.' }),
    usd: Type.String({ pattern: '^-?[0-9]{1,30}(\\.[0-9]{1,9})?$', description: 'The same amount in USD, with all its digits.' }),
  },
  closed,
);

const Exact = Type.String({
  pattern: '^-?[0-9]+(\\.[0-9]+|/[0-9]+)?$',
  description:
    'USD without rounding: a decimal, or a fraction such as 1/30000 if no decimal is exact. Negative only in a row of kind `settlement`.',
});

const Line = Type.Object(
  {
    meter: Text,
    quantity: Count,
    unit_price_usd: Type.String({ description: 'USD for `per` units, as in the price book.' }),
    per: Type.Integer({ minimum: 1 }),
    multipliers: Type.Record(Text, Text, { description: 'Factors by name; an empty object if none applied.' }),
    formula: orNull(Type.String({ description: 'The expression of the price book that computed the quantity, if it is not a count.' })),
    amount_usd: Exact,
    reversed: Type.Optional(Type.Literal(true, { description: 'The line is reversed. Only in a row of kind `settlement`.' })),
  },
  closed,
);

const Counts = Type.Record(Text, Type.Number());

const Disputed = Type.Object(
  {
    figures: Type.Array(
      Type.Object(
        {
          count: Type.String({
            description: 'A count of the usage; `usage` for a value that is not a number; `cost` for all counts together, in nano-USD.',
          }),
          reason: Type.Enum(['malformed', 'beyond-bound']),
          reported: orNull(Type.Number()),
          most: orNull(Type.Number({ description: 'The highest value that the call can have.' })),
        },
        closed,
      ),
      { minItems: 1 },
    ),
    reported: Counts,
  },
  {
    ...closed,
    description:
      'Only if the vendor reported impossible figures. `usage` has the counts that are charged instead, which cost at most as much as the call could have; `reported` has the report.',
  },
);

const Settled = Type.Object(
  { of: Text, decision: Type.Enum(['accepted', 'corrected']), before: Counts, after: Counts, at: Text, note: orNull(Text) },
  {
    ...closed,
    description:
      "Only in a row of kind `settlement`: the operator's decision about the disputed row `of`. The row's counts, lines and amount are the difference.",
  },
);

const Attempt = Type.Object(
  {
    upstream: Text,
    upstream_model: Text,
    upstream_status: orNull(Type.Integer()),
    upstream_request_id: orNull(Text),
    error_code: Text,
    duration_ms: Milliseconds,
  },
  closed,
);

const Disconnect = Type.Object(
  {
    policy: Text,
    left_after_ms: Milliseconds,
    delivered_characters: Count,
    upstream_ended_after_ms: Milliseconds,
    usage_reported: Type.Boolean(),
  },
  closed,
);

const Note = Type.Object({ kind: Text, field: Text, reason: Text }, closed);

const Timings = Type.Object({ first_byte_ms: orNull(Milliseconds), duration_ms: Milliseconds }, closed);

const estimateReasons = [
  'process_died',
  'reply_broken_off',
  'no_usage_report',
  'incomplete_usage_report',
  'impossible_usage_report',
] as const;

const Row = Type.Object(
  {
    id: Text,
    kind: Type.Enum(['call', 'part', 'tools', 'settlement'], {
      description:
        '`part`: a further round of the same call; `tools`: the use of tools of the gateway; `settlement`: the decision of the operator about a disputed row.',
    }),
    upstream: Text,
    vendor: Text,
    upstream_model: Text,
    served_model: orNull(Text),
    upstream_dialect: orNull(Type.String({ description: 'Set if the request was translated.' })),
    end: Type.Enum(['finished', 'client-left', 'cut', 'failed', 'lost']),
    stop_reason: orNull(Text),
    error_code: orNull(Text),
    upstream_status: orNull(Type.Integer()),
    upstream_request_id: orNull(Text),
    service_tier: orNull(Text),
    disconnect: orNull(Disconnect),
    attempts: Type.Array(Attempt, { description: 'Attempts before this one that delivered nothing. They cost nothing.' }),
    usage: Type.Record(Text, Type.Number(), { description: 'Disjoint counts, except those that are named as parts of others.' }),
    tool_usage: orNull(Type.Record(Text, Type.Number())),
    usage_reported: Type.Unknown({ description: 'The usage in the form of the vendor; null if it reported none.' }),
    estimated: Type.Boolean(),
    estimate_reason: orNull(Type.Enum([...estimateReasons])),
    disputed: Type.Optional(Disputed),
    settlement: Type.Optional(Settled),
    input_characters: Count,
    pricing_parameters: Type.Record(Text, Text, {
      description: 'Values of the sent request that the price depends on, by name or by JSON pointer.',
    }),
    reply_parameters: Type.Record(Text, Text, { description: 'Values of the reply that the price depends on.' }),
    price: Type.Object({ version: Text, id: orNull(Text) }, closed),
    lines: Type.Array(Line),
    sum_usd: Exact,
    amount: Money,
    held: orNull(Money),
    timings: Timings,
    notes: Type.Object({ request: Type.Array(Note), reply: Type.Array(Note) }, closed),
  },
  closed,
);

/**
 * The schema of a receipt. Unknown members are null. Only `tags`, `team` and `credits`, and in a row `disputed` and
 * `settlement`, may be missing, and no member may be added.
 */
export const receiptSchema = Type.Object(
  {
    object: Type.Literal('receipt'),
    schema: Type.Literal(receiptForm.schema),
    version: Type.Literal(receiptForm.version),
    request_id: Text,
    booked: Type.Boolean({
      description: 'Whether all of its rows are in the ledger. Until then they wait in the journal, and do not change.',
    }),
    accepted_at: Type.String({ description: 'When the request was accepted, ISO 8601 in UTC. Prices are those of this moment.' }),
    user: Text,
    key: Type.Object({ id: Text, name: Text }, closed),
    tags: Type.Optional(Type.Record(Text, Text, { description: 'The tags of the call by name. Only if it has any.' })),
    team: Type.Optional(
      Type.Object(
        { id: Text, name: Text },
        { ...closed, description: 'The team of the user when the call was made. Only if there was one.' },
      ),
    ),
    dialect: Text,
    requested_model: Text,
    stream: Type.Boolean(),
    end: Type.Enum(['finished', 'client-left', 'cut', 'failed', 'lost']),
    currency: Type.Literal('USD'),
    rounding: Type.Literal('half-up to 1 nano-USD, once per row'),
    rows: Type.Array(Row, { minItems: 1 }),
    estimated: Type.Boolean(),
    total: Money,
    held: orNull(Money),
    credits: Type.Optional(
      Type.Object(
        {
          name: Text,
          per_usd: Type.String({ pattern: '^[0-9]{1,12}(\\.[0-9]{1,12})?$' }),
          total: Type.String({ pattern: '^-?[0-9]{1,40}(\\.[0-9]{1,12})?$' }),
        },
        {
          ...closed,
          description:
            'Only if the operator has a unit for amounts: the total in this unit at the time of reading. The digest does not include it.',
        },
      ),
    ),
    digest: Type.String({ pattern: '^sha256:[0-9a-f]{64}$' }),
  },
  closed,
);

/** The cost of a call and its reasons, so that it can be recomputed without the gateway. */
export type Receipt = Static<typeof receiptSchema>;
export type ReceiptRow = Receipt['rows'][number];
export type ReceiptMoney = Receipt['total'];
export type EstimateReason = (typeof estimateReasons)[number];
