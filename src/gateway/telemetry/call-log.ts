import type { CallTags } from '../../accounts/call-tags.ts';
import type { FailedAttempt } from '../../billing/ledger/call-entry.ts';
import { usdDecimal } from '../../billing/statistics/usd-decimal.ts';
import { countInput } from '../../inference/meters.ts';
import type { Clock } from '../../platform/clock.ts';
import type { CallSink, EndedCall } from './call-report.ts';

/** Texts of clients are cut at this length. */
const textCharactersMax = 128;
/** The reason of a failure ends with what the operator can do. */
const reasonCharactersMax = 320;

/** Matches almost every name and id. The test is cheaper than escaping. */
const needsNoEscape = /^[ !#-[\]-~]*$/;

/** One escaped member of the line. Empty without a value. */
function text(name: string, value: string | undefined, charactersMax = textCharactersMax): string {
  if (value === undefined) return '';
  const bounded = value.length > charactersMax ? value.slice(0, charactersMax) : value;
  return needsNoEscape.test(bounded) ? `,"${name}":"${bounded}"` : `,"${name}":${JSON.stringify(bounded)}`;
}

let formatted = { ms: 0, text: '' };

/** The time as ISO 8601. All lines of a turn have the same. */
function formatTime(ms: number): string {
  if (formatted.ms !== ms) formatted = { ms, text: new Date(ms).toISOString() };
  return formatted.text;
}

const plain = (name: string, value: number | boolean | undefined): string => (value === undefined ? '' : `,"${name}":${value}`);

/** The tags of a call as an object. Their form needs no escape. */
function tagsMember(tags: CallTags | undefined): string {
  if (tags === undefined) return '';
  const members = Object.entries(tags).map(([name, value]) => `"${name}":${JSON.stringify(value)}`);
  return members.length === 0 ? '' : `,"tags":{${members.join(',')}}`;
}

/** Whether the gateway or an upstream failed. A refusal that only its client can fix does not count. */
function wentWrong({ end, report }: EndedCall): boolean {
  return end === 'failed' || end === 'cut' || (end === 'refused' && report.error !== undefined && report.error.status >= 500);
}

function failedAttempts(attempts: readonly FailedAttempt[] | undefined): string {
  if (attempts === undefined || attempts.length === 0) return ',"attempts":1';
  const written = attempts.map(
    ({ upstream, upstreamModel, upstreamStatus, errorCode, durationMs }) =>
      `{"durationMs":${durationMs}${text('upstream', upstream)}${text('model', upstreamModel)}${plain('status', upstreamStatus)}${text('code', errorCode)}}`,
  );
  return `,"attempts":${attempts.length + 1},"failedAttempts":[${written.join(',')}]`;
}

/** The members of a call that is in the books. */
function bookedMembers({ report }: EndedCall): string {
  const { entry } = report;
  if (entry === undefined) return '';
  const { usage, charge } = entry;
  const { cacheWrite5mTokens: written5m, cacheWrite1hTokens: written1h } = usage;
  const cacheWriteTokens = written5m === undefined && written1h === undefined ? undefined : (written5m ?? 0) + (written1h ?? 0);
  return (
    text('upstream', entry.upstream) +
    text('upstreamModel', entry.upstreamModel) +
    text('servedModel', entry.servedModel) +
    plain('upstreamStatus', entry.upstreamStatus) +
    text('upstreamRequestId', entry.upstreamRequestId) +
    failedAttempts(entry.failedAttempts) +
    plain('translated', entry.translation !== undefined) +
    text('stopReason', entry.stopReason) +
    plain('firstByteMs', entry.firstByteMs) +
    plain('inputTokens', usage.inputTokens) +
    plain('cacheReadTokens', usage.cacheReadTokens) +
    plain('cacheWriteTokens', cacheWriteTokens) +
    plain('outputTokens', usage.outputTokens) +
    plain('reasoningTokens', usage.reasoningTokens) +
    `,"costUsd":"${usdDecimal(charge.amountNanoUsd)}","costNanoUsd":${charge.amountNanoUsd}` +
    plain('estimated', entry.estimated)
  );
}

/**
 * The line of one call, as JSON without its line end. It has exactly these members, so that no prompt, reply,
 * credential or address can get in. It is written piece by piece, because every call has one.
 * @param suppressed the number of refusals without a line before this one
 */
function writeCallLine(call: EndedCall, nowMs: number, suppressed: number): string {
  const { report, end, status, durationMs } = call;
  const { entry, error } = report;
  return (
    `{"level":${wentWrong(call) ? 40 : 30},"time":"${formatTime(nowMs)}"` +
    text('callId', report.callId) +
    text('user', report.caller?.userName) +
    text('keyName', report.caller?.name) +
    text('team', report.caller?.team?.name) +
    tagsMember(report.caller?.tags) +
    text('dialect', report.dialect) +
    text('operation', report.operation) +
    text('requestedModel', entry?.requestedModel ?? report.facts?.requestedModel) +
    plain('stream', entry?.stream ?? report.facts?.stream) +
    text('end', end) +
    plain('status', status) +
    plain('durationMs', durationMs) +
    plain('queueMs', report.queueMs) +
    bookedMembers(call) +
    text('code', error?.code ?? entry?.errorCode) +
    text('internal', error?.internal, reasonCharactersMax) +
    text('agent', report.agent) +
    text('traceId', report.trace?.context.traceId) +
    (suppressed === 0 ? '' : `,"suppressed":${suppressed}`) +
    `,"msg":"call ${end}"}`
  );
}

/** Shows other than plain characters as JSON, so that a client cannot control a terminal. */
const shown = (value: string, charactersMax = textCharactersMax): string =>
  /^[\w@.:/+*-]{1,128}$/.test(value) ? value : JSON.stringify(value.slice(0, charactersMax)).replaceAll(/[\u007f-\uffff]/g, '?');

const seconds = (ms: number): string => (ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`);

/** The line of one call for a person at a terminal. */
function writeTerminalLine(call: EndedCall, nowMs: number, suppressed: number): string {
  const { report, end, status, durationMs } = call;
  const { entry, error, caller } = report;
  const parts = [new Date(nowMs).toISOString().slice(11, 19), String(status ?? '---'), end];
  const model = entry?.requestedModel ?? report.facts?.requestedModel;
  if (model !== undefined) parts.push(shown(model));
  if (entry !== undefined) {
    const { cacheReadTokens = 0, outputTokens = 0 } = entry.usage;
    const cached = cacheReadTokens === 0 ? '' : ` (${cacheReadTokens} cached)`;
    parts.push(`${shown(entry.upstream)}/${shown(entry.upstreamModel)}`);
    if (entry.failedAttempts !== undefined && entry.failedAttempts.length > 0) parts.push(`attempt ${entry.failedAttempts.length + 1}`);
    parts.push(`in ${countInput(entry.usage)}${cached} out ${outputTokens}`);
    parts.push(`$${usdDecimal(entry.charge.amountNanoUsd)}`);
    if (entry.stream && entry.firstByteMs !== undefined) parts.push(`first ${seconds(entry.firstByteMs)}`);
  }
  parts.push(seconds(durationMs));
  const code = error?.code ?? entry?.errorCode;
  if (code !== undefined) parts.push(shown(code));
  if (error?.internal !== undefined) parts.push(shown(error.internal, reasonCharactersMax));
  if (caller !== undefined) parts.push(`${shown(caller.userName)}/${shown(caller.name)}`);
  parts.push(report.callId);
  if (suppressed > 0) parts.push(`(${suppressed} refusals before it are not shown)`);
  return parts.join('  ');
}

/** The level of written lines. `silent` writes none. */
export type CallLogLevel = 'info' | 'warn' | 'silent';

/**
 * Bounds the lines of refusals, so that many of them do not fill the disk: this number at once, and then this number
 * per second.
 */
const refusedLinesBurst = 100;
const refusedLinesPerSecond = 20;

/**
 * Writes one line for each call. The lines of refusals are bounded, and the next line contains the number of omitted
 * ones. A call that was sent to an upstream always has its line.
 */
export function createCallLog(options: {
  readonly write: (lines: string) => void;
  readonly level: CallLogLevel;
  readonly forTerminal: boolean;
  readonly clock: Clock;
}): CallSink {
  const { write, level, clock } = options;
  const writeLine = options.forTerminal ? writeTerminalLine : writeCallLine;
  let allowed = refusedLinesBurst;
  let countedMs = clock.monotonicMs();
  let suppressed = 0;

  const mayRefuse = (nowMs: number): boolean => {
    allowed = Math.min(refusedLinesBurst, allowed + ((nowMs - countedMs) / 1000) * refusedLinesPerSecond);
    countedMs = nowMs;
    if (allowed < 1) return false;
    allowed -= 1;
    return true;
  };
  const isWanted = (call: EndedCall, monotonicMs: number): boolean => {
    if (level === 'silent' || (level === 'warn' && !wentWrong(call))) return false;
    if (call.end !== 'refused' || mayRefuse(monotonicMs)) return true;
    suppressed += 1;
    return false;
  };
  return {
    callsEnded: (calls) => {
      const nowMs = clock.nowMs();
      const monotonicMs = clock.monotonicMs();
      let lines = '';
      for (const call of calls) {
        if (!isWanted(call, monotonicMs)) continue;
        lines += `${writeLine(call, nowMs, suppressed)}\n`;
        suppressed = 0;
      }
      if (lines !== '') write(lines);
    },
  };
}
