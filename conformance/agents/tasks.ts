import type { AgentProgram } from './agent-program.ts';

/** The task of a program, and the text that it must print at the end. */
export type AgentTask = {
  readonly title: 'text' | 'tool loop';
  readonly prompt: (program: AgentProgram, file: string) => string;
  readonly says: string;
  /** Tool calls that the model makes. */
  readonly toolCalls: number;
};

export const noteText = 'The weir is three metres high.';

/**
 * Values of a directive are URL-encoded, and values inside them are encoded again. So the prompt never contains the
 * expected text itself.
 */
function directive(values: Readonly<Record<string, string>>): string {
  const parts = Object.entries(values).map(([name, value]) => `${name}=${encodeURIComponent(encodeURIComponent(value))}`);
  return `[[simulator ${parts.join(' ')}]]`;
}

export const agentTasks: readonly AgentTask[] = [
  {
    title: 'text',
    prompt: () => `Say hello. ${directive({ text: 'the water says hello' })}`,
    says: 'the water says hello',
    toolCalls: 0,
  },
  {
    title: 'tool loop',
    prompt: ({ readTool }, file) => {
      const steering = directive({
        'tool-name': readTool.name,
        'tool-arguments': JSON.stringify(readTool.arguments(file)),
        text: 'it is high enough',
      });
      return `How high is the weir of ${file}? ${steering}`;
    },
    says: 'it is high enough',
    toolCalls: 1,
  },
];
