import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';

import fc from 'fast-check';

import type { UpstreamDialect } from '../../src/dialects/chat-dialect.ts';
import { chatDialects, upstreamDialects } from '../../src/dialects/registry.ts';
import { usualOrLong } from '../support/scale.ts';
import { translationClients } from './clients/clients.ts';
import { translateBody } from './translate-body.ts';
import type { Wire } from './wire.ts';

/**
 * Streams of careless servers: missing, repeated or reordered events, and members that are null or of another type. The
 * resulting reply is readable.
 */
const names = ['error', 'malformed', 'cut-'] as const;

function readFrames(dialect: UpstreamDialect): readonly (readonly string[])[] {
  const folder = join(import.meta.dirname, '../../src/dialects', dialect.id, 'fixtures');
  return readdirSync(folder)
    .filter((file) => file.endsWith('.stream.sse') && !names.some((name) => file.startsWith(name)))
    .map((file) =>
      readFileSync(join(folder, file), 'utf8')
        .replaceAll('\r\n', '\n')
        .split('\n\n')
        .filter((frame) => frame.trim() !== '')
        .map((frame) => `${frame}\n\n`),
    );
}

type Change =
  | { readonly kind: 'drop' | 'double' | 'swap'; readonly at: number }
  | { readonly kind: 'replace'; readonly at: number; readonly member: number; readonly value: Wire };

const change: fc.Arbitrary<Change> = fc.oneof(
  fc.record({ kind: fc.constantFrom('drop', 'double', 'swap'), at: fc.nat(200) }),
  fc.record({
    kind: fc.constant('replace' as const),
    at: fc.nat(200),
    member: fc.nat(40),
    value: fc.constantFrom(null, 7, '', 'word', [], {}, true),
  }),
);

/** Replaces the n-th member of the JSON of a frame, counted in depth. */
function replaceMember(frame: string, member: number, value: Wire): string {
  const found = /^data: ?(\{.*\})\s*$/m.exec(frame);
  if (found === null) return frame;
  const json: Wire = JSON.parse(found[1] ?? '');
  let left = member;
  const visit = (holder: Wire): boolean =>
    Object.keys(holder).some((name) => {
      if (left-- === 0) {
        holder[name] = value;
        return true;
      }
      return typeof holder[name] === 'object' && holder[name] !== null && visit(holder[name]);
    });
  visit(json);
  return frame.replace(found[0], () => `data: ${JSON.stringify(json)}\n`);
}

function applyChange(frames: readonly string[], { kind, at, ...more }: Change): readonly string[] {
  const index = at % frames.length;
  const frame = frames[index] ?? '';
  if (kind === 'drop') return frames.toSpliced(index, 1);
  if (kind === 'double') return frames.toSpliced(index, 0, frame);
  if (kind === 'swap') return frames.toSpliced(index, 2, ...frames.slice(index, index + 2).toReversed());
  const { member, value } = more as Extract<Change, { kind: 'replace' }>;
  return frames.with(index, replaceMember(frame, member, value));
}

for (const upstream of Object.values(upstreamDialects)) {
  const recorded = readFrames(upstream);
  for (const client of Object.values(chatDialects)) {
    if (client === upstream) continue;
    const reader = translationClients.find(({ dialect }) => dialect === client.id);
    describe(`${upstream.id} to ${client.id}`, () => {
      test('faulty events of a server are read without an exception, and the resulting reply is readable', () => {
        fc.assert(
          fc.property(fc.nat(1000), fc.array(change, { minLength: 1, maxLength: 3 }), (which, changes) => {
            const frames = changes.reduce(
              (before, each) => (before.length === 0 ? before : applyChange(before, each)),
              recorded[which % recorded.length] ?? [],
            );
            const translator = translateBody(client, upstream, 'sse');
            translator.push(Buffer.from(frames.join('')));
            if (translator.state() !== 'complete') return;
            translator.end();
            // An unreadable event also lost its text.
            if (translator.state() === 'failed') return;
            try {
              reader?.readStream(translator.text());
            } catch (error) {
              // Arguments that lost a piece are not JSON, and were passed on unchanged.
              if (!(error instanceof SyntaxError)) throw error;
            }
          }),
          { numRuns: usualOrLong(100, 300) },
        );
      });
    });
  }
}
