import Type from 'typebox';
import { Compile } from 'typebox/schema';
import { parseFault, type QueuedFault } from './faults.ts';
import type { Pace } from './steering.ts';
import { readVideoScript, type VideoScript } from './videos/video-script.ts';

const closed = { additionalProperties: false } as const;
const vendorName = Type.Enum(['anthropic', 'openai', 'gemini', 'xai', 'search']);

const settingsSchema = Type.Object(
  {
    pace: Type.Optional(
      Type.Object(
        {
          tokensPerSecond: Type.Optional(Type.Number({ minimum: 0 })),
          firstTokenMs: Type.Optional(Type.Number({ minimum: 0 })),
          tokensPerFrame: Type.Optional(Type.Integer({ minimum: 1 })),
          chunkBytes: Type.Optional(Type.Integer({ minimum: 0 })),
        },
        closed,
      ),
    ),
    video: Type.Optional(Type.String()),
    faults: Type.Optional(
      Type.Array(
        Type.Union([
          Type.String(),
          Type.Object(
            {
              fault: Type.String(),
              vendor: Type.Optional(vendorName),
              times: Type.Optional(Type.Union([Type.Integer({ minimum: 1 }), Type.Null()])),
              every: Type.Optional(Type.Integer({ minimum: 1 })),
            },
            closed,
          ),
        ]),
        { maxItems: 1000 },
      ),
    ),
  },
  closed,
);

const validator = Compile(settingsSchema);

export type Settings = { readonly pace?: Partial<Pace>; readonly video?: VideoScript; readonly faults?: QueuedFault[] };

/** Reads new settings. Throws an Error that names the first invalid member, or SteeringError for an unknown fault. */
export function readSettings(value: unknown): Settings {
  if (!validator.Check(value)) {
    const [, [problem]] = validator.Errors(value);
    throw new Error(`${problem?.instancePath ?? ''} ${problem?.message ?? 'is not valid'}`.trim());
  }
  return {
    ...(value.pace !== undefined && { pace: value.pace }),
    ...(value.video !== undefined && { video: readVideoScript(value.video) }),
    ...(value.faults !== undefined && {
      faults: value.faults.map((entry) => queueFault(typeof entry === 'string' ? { fault: entry } : entry)),
    }),
  };
}

/**
 * A fault for future calls: for the next call unless `times` is higher, or for all calls until the faults are replaced
 * if it is null.
 */
export function queueFault(entry: {
  readonly fault: string;
  readonly vendor?: string;
  readonly times?: number | null;
  readonly every?: number;
}): QueuedFault {
  return {
    fault: parseFault(entry.fault),
    ...(entry.vendor !== undefined && { vendor: entry.vendor }),
    timesLeft: entry.times === null ? undefined : (entry.times ?? 1),
    every: entry.every ?? 1,
    seen: 0,
  };
}
