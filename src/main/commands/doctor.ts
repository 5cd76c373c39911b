import { type Command, InvalidArgumentError } from 'commander';

import { systemClock } from '../../platform/clock.ts';
import { checkNames, type CheckName, type DoctorReport } from '../doctor/finding.ts';
import { renderReport, type RenderStyle, wrap } from '../doctor/render-report.ts';
import type { Environment } from '../environment.ts';
import { checkOnGateways } from './check-on-gateways.ts';
import { interruption } from './remote/await-operation.ts';
import { addRemoteOption, type RemoteOption, withService } from './remote/with-service.ts';

export type CheckOptions = RemoteOption & {
  readonly check: readonly CheckName[];
  readonly model?: string;
  readonly calls: boolean;
  readonly timeout: number;
  readonly json?: boolean;
};
type DoctorOptions = CheckOptions & { readonly upstream: readonly string[] };

const defaultTimeoutSeconds = 30;
/** For output that does not go to a terminal, and for a terminal that does not report its width. */
const defaultWidth = 120;
const narrowest = 40;

function readTimeout(text: string): number {
  const seconds = Number(text);
  if (!(seconds >= 0.1 && seconds <= 3600)) throw new InvalidArgumentError('it must be a number of seconds from 0.1 to 3600.');
  return seconds;
}

function addCheck(text: string, before: readonly CheckName[]): readonly CheckName[] {
  const check = checkNames.find((name) => name === text);
  if (check === undefined) throw new InvalidArgumentError(`it must be one of ${checkNames.join(', ')}.`);
  return [...before, check];
}

/** Adds the options that say how far a check goes. */
export function addCheckOptions(command: Command): Command {
  return command
    .option('--check <name>', `only this check and the checks that it needs; may be repeated (${checkNames.join(', ')})`, addCheck, [])
    .option('--model <name>', "the model to check, by the upstream's name for it")
    .option('--no-calls', 'sends nothing that a vendor bills')
    .option('--timeout <seconds>', 'time limit of each step', readTimeout, defaultTimeoutSeconds)
    .option('--json', 'writes the report as JSON');
}

/** Adds `weir doctor`. Its exit code is 0 if nothing is bad, 1 if something is, and 130 if it was interrupted. */
export function addDoctorCommand(program: Command, environment: Environment): void {
  const doctor = program
    .command('doctor')
    .description(
      'checks the configuration, the credentials, and how well each upstream implements its interfaces; says how to fix problems',
    )
    .option('--upstream <name>', 'only this upstream; may be repeated', (name: string, before: readonly string[]) => [...before, name], []);
  doctor.option('--remote <address>', 'lets the gateways of the console at this address check, with the admin token in WEIR_ADMIN_TOKEN');
  addCheckOptions(doctor).action((written: DoctorOptions) =>
    written.remote === undefined ? examine(environment, written, checkHere(environment, written)) : examineThere(environment, written),
  );
}

/** Adds `weir upstreams check` to its group: the doctor, as a running gateway has it. */
export function addUpstreamCheck(upstreams: Command, environment: Environment): void {
  const check = addRemoteOption(upstreams.command('check'))
    .description('lets a running gateway check an upstream, as weir doctor does on its machine')
    .argument('<upstream>', 'its name');
  addCheckOptions(check).action((name: string, written: CheckOptions) => examineThere(environment, { ...written, upstream: [name] }));
}

type Examine = (control: { readonly signal: AbortSignal; readonly onStep: (step: string) => void }) => Promise<DoctorReport>;

function examineThere(environment: Environment, written: DoctorOptions): Promise<void> {
  const { upstream: upstreams, check: checks, model, calls: mayCall, timeout } = written;
  return examine(environment, written, (control) =>
    withService(environment, written, (service) => checkOnGateways(service, { upstreams, checks, model, mayCall, timeout, ...control })),
  );
}

function checkHere(environment: Environment, written: DoctorOptions): Examine {
  return async (control) => {
    // Loaded only here, because it loads nearly all modules of a gateway.
    const { runDoctor } = await import('../doctor/run-doctor.ts');
    return await runDoctor({
      environment,
      clock: systemClock,
      upstreams: written.upstream,
      checks: written.check,
      model: written.model,
      mayCall: written.calls,
      timeoutMs: written.timeout * 1000,
      ...control,
    });
  };
}

/** Runs a check with its progress on the terminal, prints its report, and sets the exit code. */
export async function examine(environment: Environment, written: CheckOptions, work: Examine): Promise<void> {
  const signal = interruption();
  const isJson = written.json === true;
  const style = readStyle(environment);
  if (!isJson && written.calls) console.log(`${wrap(await announceCost(written.check), style.width, 0)}\n`);
  const progress = createProgress(!isJson && process.stderr.isTTY);
  const report = await work({ signal, onStep: progress.show }).finally(progress.clear);
  process.stdout.write(isJson ? `${JSON.stringify(report, null, 2)}\n` : renderReport(report, style));
  process.exitCode = report.aborted ? 130 : report.healthy ? 0 : 1;
}

async function announceCost(checks: readonly CheckName[]): Promise<string> {
  const { chooseChecks, countCalls } = await import('../doctor/examine-model.ts');
  const calls = countCalls(chooseChecks(checks, true));
  return `Each interface of each upstream gets up to ${calls} small calls of 16 to 160 output tokens (more if a model always reasons), which its vendor bills. --no-calls sends none.`;
}

/** One line on a terminal that names the current step and is cleared at the end. */
function createProgress(isShown: boolean): { readonly show: (step: string) => void; readonly clear: () => void } {
  const clear = (): void => void (isShown && process.stderr.write('\r\u001b[K'));
  const show = (step: string): void =>
    void (isShown && process.stderr.write(`\r\u001b[K${step.slice(0, (knownWidth(process.stderr.columns) ?? 80) - 1)}`));
  return { show, clear };
}

/** Terminals that do not know their width report none, or 0. */
const knownWidth = (columns: number | undefined): number | undefined => (columns !== undefined && columns > 0 ? columns : undefined);

function readStyle({ variable }: Environment): RenderStyle {
  const { isTTY, columns } = process.stdout;
  const variableColumns = Number(variable('COLUMNS') ?? '');
  const width = knownWidth(columns) ?? knownWidth(Number.isInteger(variableColumns) ? variableColumns : undefined) ?? defaultWidth;
  const colour = variable('FORCE_COLOR') !== undefined || (isTTY && variable('NO_COLOR') === undefined && variable('TERM') !== 'dumb');
  const locale = variable('LC_ALL') ?? variable('LC_CTYPE') ?? variable('LANG') ?? '';
  return { width: Math.max(width, narrowest), colour, unicode: !/^(?:C|POSIX)$/.test(locale) };
}
