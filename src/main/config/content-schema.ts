import Type, { type Static } from 'typebox';

import { contentModes } from '../../accounts/content-mode.ts';
import { ownPatternLimits, refuseExpression } from '../../content/masking/own-patterns.ts';
import { s3Schema } from './media-storage-schema.ts';

const sinkSchema = Type.Object(
  {
    type: Type.Enum(['otlp', 'folder', 's3'], {
      description:
        'otlp: events of OpenTelemetry with gen_ai attributes, as JSON over HTTP; folder: files of JSON Lines; s3: the same in an object store.',
    }),
    url: Type.Optional(
      Type.String({
        pattern: '^https?://',
        maxLength: 2048,
        description: 'Of otlp: the address for logs, such as http://localhost:4318/v1/logs.',
      }),
    ),
    headers: Type.Optional(
      Type.Record(Type.String({ pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$" }), Type.String({ pattern: '^[\\x20-\\x7e\\t]{0,4096}$' }), {
        additionalProperties: false,
        description: 'Of otlp: headers of each request. Write credentials as references: "${NAME}".',
      }),
    ),
    path: Type.Optional(
      Type.String({ minLength: 1, maxLength: 1024, description: 'Of folder: its path. A relative path begins at the data directory.' }),
    ),
    s3: Type.Optional(s3Schema),
    retentionDays: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 36_500,
        description: 'Of folder and s3: days after which gateways delete what they have written. Default: they keep it.',
      }),
    ),
  },
  { additionalProperties: false, description: 'A receiver of prompts and replies.' },
);

const patternSchema = Type.Object(
  {
    name: Type.String({ pattern: '^[a-z0-9-]{1,40}$', description: 'The word that replaces a finding, in brackets.' }),
    text: Type.Optional(
      Type.String({ minLength: 3, maxLength: ownPatternLimits.characters, description: 'A text that is found as it is.' }),
    ),
    expression: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: ownPatternLimits.characters,
        description: 'A regular expression in the syntax of RE2, which takes linear time. It has no look-around and no back references.',
      }),
    ),
  },
  { additionalProperties: false, description: 'A further text to mask. Give text or expression.' },
);

/** The `content` section: the recording of prompts and replies. */
export const contentSchema = Type.Object(
  {
    ceiling: Type.Optional(
      Type.Enum([...contentModes], {
        default: 'off',
        description:
          'The most that a key or a team can let be recorded. off: nothing of any call; masked: without credentials, e-mail addresses, and numbers of cards, accounts and telephones; full: as it is.',
      }),
    ),
    sample: Type.Optional(
      Type.Number({ minimum: 0, maximum: 1, default: 1, description: 'The part of those calls that is recorded, chosen at random.' }),
    ),
    sinks: Type.Optional(
      Type.Record(Type.String({ pattern: '^[A-Za-z0-9._-]{1,64}$' }), sinkSchema, {
        additionalProperties: false,
        description: 'Receivers by name. Each gets every recorded call at least once. Without any, nothing is recorded.',
      }),
    ),
    patterns: Type.Optional(Type.Array(patternSchema, { maxItems: ownPatternLimits.patterns, description: 'Further texts to mask.' })),
    batchSeconds: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 3600,
        default: 30,
        description: 'How long records are collected before they are sent together.',
      }),
    ),
    callBytesMax: Type.Optional(
      Type.Integer({
        minimum: 1024,
        maximum: 67_108_864,
        default: 8_388_608,
        description: 'The largest request or reply that is recorded, in bytes. Of larger ones, only their size is.',
      }),
    ),
    spoolBytesMax: Type.Optional(
      Type.Integer({
        minimum: 65_536,
        maximum: 1_099_511_627_776,
        default: 1_073_741_824,
        description:
          'The most bytes that wait for sinks in the data directory, for each process. When they are used up, calls are not recorded.',
      }),
    ),
  },
  { additionalProperties: false, description: 'The recording of prompts and replies. Off unless a ceiling and a sink are set.' },
);

export type ContentConfig = Static<typeof contentSchema>;
export type ContentSinkConfig = Static<typeof sinkSchema>;

type Problem = { readonly path: readonly (string | number)[]; readonly message: string };
const fieldsOf = { otlp: ['url', 'headers'], folder: ['path', 'retentionDays'], s3: ['s3', 'retentionDays'] } as const;
const needed = { otlp: 'url', folder: 'path', s3: 's3' } as const;

/** Problems of sinks and patterns beyond the schema, each at its field. */
export function findContentProblems({ content }: { readonly content?: ContentConfig }): readonly Problem[] {
  return [
    ...Object.entries(content?.sinks ?? {}).flatMap(([name, sink]) => findSinkProblems(['content', 'sinks', name], sink)),
    ...(content?.patterns ?? []).flatMap((pattern, index) => findPatternProblems(['content', 'patterns', index], pattern)),
  ];
}

function findSinkProblems(path: Problem['path'], sink: ContentSinkConfig): readonly Problem[] {
  const { type, url } = sink;
  const own: readonly (keyof ContentSinkConfig)[] = fieldsOf[type];
  const given = Object.entries(sink).flatMap(([field, value]) => (value === undefined || field === 'type' ? [] : [field]));
  return [
    ...(sink[needed[type]] === undefined ? [{ path, message: `${needed[type]} is required for a sink of type ${type}` }] : []),
    ...given
      .filter((field) => !own.some((each) => each === field))
      .map((field) => ({ path: [...path, field], message: `does not belong to a sink of type ${type}` })),
    ...(url === undefined || URL.canParse(url) ? [] : [{ path: [...path, 'url'], message: 'must be a valid address' }]),
  ];
}

function findPatternProblems(path: Problem['path'], { text, expression }: Static<typeof patternSchema>): readonly Problem[] {
  if ((text === undefined) === (expression === undefined)) return [{ path, message: 'must have either text or expression' }];
  const reason = expression === undefined ? undefined : refuseExpression(expression);
  return reason === undefined ? [] : [{ path: [...path, 'expression'], message: `cannot be used: ${reason}` }];
}
