import type { DialectId } from '../src/dialects/dialect-id.ts';
import { chatDialects } from '../src/dialects/registry.ts';
import { createByteForm } from '../src/gateway/endpoints/chat/reply-form.ts';
import { createTranslatedStream } from '../src/gateway/endpoints/chat/translate/translated-stream.ts';
import { createTranslationNotes } from '../src/inference/translation-notes.ts';
import { replayReply } from '../src/inference/replay-reply.ts';
import type { Frame } from '../src/platform/frames.ts';
import { createSseFrameReader } from '../src/platform/sse/sse-frame-reader.ts';

const rounds = 60;
const replyBytesMax = 64 * 1024 * 1024;
const words = 'some words ';
const deltas = 200;
const dialects = Object.keys(chatDialects) as DialectId[];

function writingOf(dialect: DialectId) {
  let made = 0;
  const newId = (prefix: string): string => `${prefix}_${++made}`;
  const notes = createTranslationNotes(chatDialects[dialect].codec.fieldNames, false);
  return { requestId: 'req_1', requestedModel: 'm', request: {}, createdAtMs: 0, nowMs: () => 0, inputTokensEstimate: 10, newId, notes };
}

/** The frames of a reply of many small deltas, as an upstream of this dialect sends them. */
function framesOf(dialect: DialectId): readonly Frame[] {
  const encoder = chatDialects[dialect].codec.createEventEncoder(writingOf(dialect), 'sse');
  const usageReport = { usage: { inputTokens: 10, outputTokens: deltas * 3 }, raw: {}, trustworthy: true };
  const [started, opened, said, ...rest] = replayReply({
    replyId: 'r1',
    servedModel: 'm',
    parts: [{ kind: 'text', text: words }],
    stopReason: 'end',
    usageReport,
  });
  if (started === undefined || opened === undefined || said === undefined) throw new Error('a reply begins with these');
  const events = [started, opened, ...Array.from({ length: deltas }, () => said), ...rest];
  const body = Buffer.from(events.map((event) => encoder.write(event)).join(''));
  return createSseFrameReader({ frameBytesMax: body.length }).push(body);
}

/**
 * Processor time of translating one event, in µs: reading its usage, decoding, the steps between, encoding. The median
 * of the rounds.
 */
function measure(upstream: DialectId, client: DialectId): number {
  const frames = framesOf(upstream);
  const times = Array.from({ length: rounds }, () => {
    const writing = writingOf(client);
    const { newId, notes } = writing;
    const stream = createTranslatedStream(
      {
        client: chatDialects[client],
        upstream: chatDialects[upstream],
        encoded: { body: {} },
        reading: { proofOrigin: 'bench', newId, notes },
        writing,
        correctUsage: (report) => report,
        notes,
        replyNotes: notes,
        framing: 'sse',
        rememberProofs: () => {},
      },
      createByteForm(chatDialects[client], 'sse'),
      { replyBytesMax },
    );
    const started = process.cpuUsage();
    for (const frame of frames) stream.read(frame);
    stream.end(Buffer.alloc(0));
    const { user, system } = process.cpuUsage(started);
    return (user + system) / frames.length;
  });
  return times.toSorted((first, second) => first - second)[Math.floor(rounds / 2)] ?? Number.NaN;
}

/** A table of the cost of translating a streamed event, from every upstream's dialect to every client's. */
export function translationTable(): string {
  const titles = dialects.map((dialect) => chatDialects[dialect].title);
  const rows = dialects.map((upstream) => {
    const cells = dialects.map((client) => (client === upstream ? '–' : measure(upstream, client).toFixed(1)));
    return `| ${chatDialects[upstream].title} | ${cells.join(' | ')} |`;
  });
  return [
    '## translated event',
    '',
    "CPU µs for one event of a stream, median: reading its usage, decoding, encoding. Rows are the upstream's interface,",
    "columns the client's.",
    '',
    `| | ${titles.join(' | ')} |`,
    `|---|${titles.map(() => '---|').join('')}`,
    ...rows,
    '',
  ].join('\n');
}
