import { createHash } from 'node:crypto';

import type { JobContext } from '../isolated-job.ts';

/** What parsers do with hostile files. */
export type Hostility =
  | { readonly does: 'echo'; readonly value: unknown }
  | {
      readonly does: 'loop' | 'loop in microtasks' | 'backtrack' | 'exit' | 'fill the heap' | 'fill a list' | 'fill buffers' | 'never end';
    }
  | { readonly does: 'throw'; readonly message: string }
  | { readonly does: 'write'; readonly bytes: number }
  | { readonly does: 'work'; readonly ms: number }
  | { readonly does: 'ask'; readonly questions: readonly number[] };

/** A job for tests. */
export async function run(input: Hostility, { ask }: JobContext<number, string>): Promise<unknown> {
  switch (input.does) {
    case 'echo':
      return input.value;
    case 'loop':
      for (let turn = 0; ; turn += 1) if (turn < 0) return turn;
    case 'loop in microtasks':
      for (let turn = 0; ; turn += 1) if ((await Promise.resolve(turn)) < 0) return turn;
    case 'backtrack':
      return /^(a+)+$/.test(`${'a'.repeat(60)}!`);
    case 'exit':
      return process.exit(3);
    case 'fill the heap':
      return fill(() => Array.from({ length: 100_000 }, (_, index) => ({ index })));
    case 'fill a list': {
      const list: number[] = [];
      for (;;) list.push(list.length / 2);
    }
    case 'fill buffers':
      return fill(() => Buffer.alloc(4 * 1024 * 1024, 1));
    case 'never end':
      return await new Promise(() => {});
    case 'throw':
      throw new Error(input.message);
    case 'write':
      return Buffer.alloc(input.bytes);
    case 'work':
      return work(input.ms);
    case 'ask': {
      const answers: string[] = [];
      for (const question of input.questions) answers.push(await ask(question).catch((error: Error) => error.message));
      return answers;
    }
  }
}

async function fill(make: () => unknown): Promise<number> {
  const kept: unknown[] = [];
  for (;;) {
    kept.push(make());
    await new Promise((resolve) => setTimeout(resolve, 1));
    if (kept.length > 100_000) return kept.length;
  }
}

function work(ms: number): string {
  const untilMs = performance.now() + ms;
  let digest = '';
  while (performance.now() < untilMs) digest = createHash('sha256').update(digest).digest('hex');
  return 'worked';
}
