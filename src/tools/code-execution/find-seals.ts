import { spawn } from 'node:child_process';

import { composeCommand, findLimiter, findProgram, type HostSeal, interpreterFolder, type SandboxLimits } from './seal-command.ts';

/** The time limit for a trial start, which takes a tenth of a second of work. A busy host must not lose seals. */
const probeMs = 30_000;

/** Whether this Node can deny a process files, programs, threads and the network. Without that there is no sandbox. */
export function canSeal(): boolean {
  const unix = process.platform === 'linux' || process.platform === 'darwin';
  return unix && process.allowedNodeEnvironmentFlags.has('--allow-net') && findLimiter() !== undefined;
}

/**
 * Tries which seals of the operating system work here. Each is added to the previous ones if a child still starts with
 * it.
 * @throws Error if a child does not start at all, or detects that Node's own seals do not work
 */
export async function findSeals(limits: SandboxLimits): Promise<ReadonlySet<HostSeal>> {
  const found = new Set<HostSeal>();
  const starts = (seals: ReadonlySet<HostSeal>): Promise<boolean> => probe(seals, limits);
  if (!(await starts(found))) throw new Error('A sealed Node process does not start here.');
  if (process.platform !== 'linux') return found;
  const tryAdding = async (seal: HostSeal, program: string): Promise<boolean> => {
    if (findProgram(program) === undefined || !(await starts(new Set([...found, seal])))) return false;
    found.add(seal);
    return true;
  };
  await tryAdding('unprivileged', 'setpriv');
  if (!(await tryAdding('bubblewrap', 'bwrap'))) await tryAdding('namespaces', 'unshare');
  if (process.getuid?.() === 0 && found.has('unprivileged')) await tryAdding('nobody', 'setpriv');
  return found;
}

function probe(seals: ReadonlySet<HostSeal>, limits: SandboxLimits): Promise<boolean> {
  const { program, args } = composeCommand(seals, limits, ['probe', interpreterFolder]);
  return new Promise((resolve) => {
    const child = spawn(program, args, { env: {}, cwd: '/', stdio: 'ignore', timeout: probeMs, killSignal: 'SIGKILL' });
    child.once('error', () => resolve(false));
    child.once('close', (code) => resolve(code === 0));
  });
}
