import type { ToolFinding } from '../../inference/inference-request.ts';
import type { ToolOutcome } from '../gateway-tool.ts';
import type { RunEnding, RunReport } from './run-report.ts';

/** The state of the interpreter's variables, for the model. */
const lost = 'The interpreter was ended; variables and files of earlier runs are gone, and the next run starts a new one.';

/** Describes one run for the model and the client. `restarted`: an earlier run of the request lost its variables. */
export function describeRun(
  report: RunReport,
  limits: { readonly timeoutMs: number; readonly memoryMb: number },
  restarted: boolean,
): ToolOutcome {
  const findings = listFindings(report);
  const notes = [
    ...(restarted ? ['Note: this run started a new interpreter, because the previous one was ended.'] : []),
    ...(report.truncated ? ['Note: the output exceeded the limit; the rest was left out.'] : []),
    ...explain(report.ending, limits),
  ];
  const blocks = findings.map(({ title, text }) => `${title ?? ''}:\n${text ?? ''}`);
  const answer = [...blocks, ...notes].join('\n').trim();
  const failure = failureOf(report.ending);
  const shown = [...findings, ...notes.map((text) => ({ title: 'note', text }))];
  return {
    answer: answer === '' ? 'The code ran and printed nothing.' : answer,
    sources: [],
    shown: {
      results: shown,
      ...(report.ending === 'finished' ? {} : { failed: true }),
      ...(failure === undefined ? {} : { failure }),
    },
    usage: { codeExecutions: 1 },
  };
}

/** An outcome of a run that did not happen. */
export function describeRefusal(failure: 'unavailable' | 'invalid-input', answer: string): ToolOutcome {
  return { answer, sources: [], shown: { results: [{ title: 'note', text: answer }], failed: true, failure }, usage: {} };
}

function listFindings(report: RunReport): readonly ToolFinding[] {
  const texts = [
    { title: 'stdout', text: report.stdout },
    { title: 'stderr', text: report.stderr },
    { title: report.ending === 'raised' ? 'error' : 'result', text: report.text },
  ];
  return texts.filter(({ text }) => text !== '');
}

function explain(ending: RunEnding, limits: { readonly timeoutMs: number; readonly memoryMb: number }): string[] {
  switch (ending) {
    case 'timed-out':
      return [`The run took longer than ${limits.timeoutMs / 1000} seconds and was stopped. ${lost}`];
    case 'died':
      return [
        `The interpreter did not survive the run: it used more memory (${limits.memoryMb} MB) or time than it may, or broke. ${lost}`,
      ];
    case 'stopped':
      return [`The run was stopped. ${lost}`];
    case 'finished':
    case 'raised':
      return [];
  }
}

function failureOf(ending: RunEnding): 'timed-out' | 'limit-reached' | undefined {
  if (ending === 'timed-out') return 'timed-out';
  return ending === 'died' ? 'limit-reached' : undefined;
}
