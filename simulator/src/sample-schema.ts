import { createHash } from 'node:crypto';
import { type JsonSchema, generateSync } from 'json-schema-faker';
import { Check } from 'typebox/schema';
import { boundSchema } from './bound-schema.ts';
import { runWithin } from './run-within.ts';
import type { Json, JsonRecord } from './simulated-vendor.ts';

const attemptsMax = 6;
/** The number of values in all candidates for one sample: nested lists would otherwise create any number. */
const valuesMax = 2000;
/**
 * A sample takes a millisecond or two. A longer one blocks the whole process, because vendors answer on its event loop.
 */
const workMsMax = 40;

// Text of these words looks like a sample and not like an answer.
const words =
  'amber birch cedar delta ember fjord grove harbor island juniper kelp lagoon meadow north orchid pebble quartz river spruce tundra umber valley willow yarrow zephyr'.split(
    ' ',
  );

/**
 * A value that is valid for a JSON Schema: the same schema and seed always give the same value. Accepts the draft
 * 2020-12 subset that vendors support, and Gemini's spelling of it (upper-case types, `nullable`, counts as strings).
 * Strings consist of words, arrays and objects are small, optional members depend on the seed. A schema that is
 * unsatisfiable, refers to a missing definition, or would take too much work gives the closest value found instead of
 * an error, because validating schemas belongs to the vendor's format. Patterns of the schema are a source for samples
 * and are never matched, because they may backtrack exponentially.
 */
export function sampleSchema(schema: JsonRecord, seed: string): Json {
  const bounded = boundSchema(schema);
  if (bounded === undefined) return {};
  let closest: Json = {};
  const search = (): void => {
    const budget = { values: valuesMax };
    for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
      const value = generate(bounded.written, `${seed}/${attempt}`, { withWords: attempt < attemptsMax / 2, budget });
      if (value === undefined) continue;
      closest = value;
      if (isValid(bounded.checked, value)) return;
    }
  };
  runWithin(workMsMax, search);
  return closest;
}

type Attempt = { readonly withWords: boolean; readonly budget: { values: number } };

function generate(schema: JsonRecord, seed: string, { withWords, budget }: Attempt): Json | undefined {
  try {
    const value = generateSync(schema, {
      seed: hash(seed),
      maxDepth: 8,
      refDepthMin: 0,
      refDepthMax: 3,
      maxDefaultItems: 3,
      optionalsProbability: 0.6,
      minDateTime: '2026-01-01T00:00:00Z',
      maxDateTime: '2026-12-31T23:59:59Z',
      outputTransform: (output, at, path) => {
        budget.values -= 1;
        if (budget.values < 0) throw new Error('the sample becomes too large');
        return withWords ? toWords(output, at, `${seed}${path}`) : output;
      },
    });
    return value === undefined ? undefined : (value as Json);
  } catch {
    // The library throws for references without a definition and for contradictions; the caller then retries or stops.
    return undefined;
  }
}

/** Replaces the random letters of a free string by words, within the schema's length. */
function toWords(value: unknown, schema: JsonSchema, seed: string): unknown {
  if (typeof value !== 'string' || typeof schema === 'boolean') return value;
  if (schema.enum || 'const' in schema || schema.pattern !== undefined || schema.format !== undefined || !schema.type) return value;
  const lengthMin = schema.minLength ?? 0;
  const lengthMax = schema.maxLength ?? Math.max(24, lengthMin + 8);
  const picked: string[] = [];
  let state = hash(seed);
  const countMin = 1 + (state % 2);
  while (picked.length < countMin || picked.join(' ').length < lengthMin) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    picked.push(words[(state >>> 8) % words.length] ?? 'amber');
  }
  // A cut must not leave a space at the end, which some formats trim away.
  return picked.join(' ').slice(0, lengthMax).replace(/ $/, 'x');
}

function isValid(schema: JsonRecord, value: Json): boolean {
  try {
    return Check(schema, value);
  } catch {
    // A reference without a definition cannot be checked.
    return false;
  }
}

function hash(text: string): number {
  return createHash('sha256').update(text).digest().readUInt32BE(0) & 0x7fffffff;
}
