import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** What one sandbox may use at most. */
export type SandboxLimits = {
  /** The time limit of one run in milliseconds. */
  readonly timeoutMs: number;
  /** The memory limit of the interpreter in MiB. */
  readonly memoryMb: number;
  /** The limit of output of one run in bytes. */
  readonly outputBytesMax: number;
};

/**
 * Seals by the operating system that only some hosts have. `bubblewrap` or `namespaces`: no network and only its own
 * processes (bubblewrap: also no files). `unprivileged`: no new privileges, no capabilities, and the kernel kills it
 * with the gateway. `nobody`: a user that owns nothing, if the gateway is root.
 */
export type HostSeal = 'bubblewrap' | 'namespaces' | 'unprivileged' | 'nobody';

/** A command that starts a sandbox. Its environment must be empty. */
export type SealedCommand = { readonly program: string; readonly args: readonly string[] };

const childFolder = new URL('./child/', import.meta.url);
const childScript = new URL('./child/sandbox-child.ts', import.meta.url);

/** The interpreter's folder as a file: address that ends in a slash. */
export const interpreterFolder = new URL('.', import.meta.resolve('pyodide/pyodide.mjs')).href;

/**
 * Memory of Node, its code and the stacks of its threads, in addition to the interpreter's, in MiB. The limit is far
 * above the need.
 */
const nodeMemoryMb = 1024;

/** The processor time that one sandbox may spend, including its start, as a multiple of the time limit of a run. */
const cpuRuns = 4;
const startCpuSeconds = 20;

/** Finds a program in the usual folders, because the sandbox's environment has no search path. */
export function findProgram(name: string): string | undefined {
  return ['/usr/bin', '/bin', '/usr/local/bin', '/usr/sbin'].map((folder) => `${folder}/${name}`).find((path) => existsSync(path));
}

/** The program that sets limits: every POSIX shell, or prlimit in a container image without a shell. */
export const findLimiter = (): string | undefined => findProgram('sh') ?? findProgram('prlimit');

/**
 * Builds the command of a sandbox, outermost first: a program that sets limits and executes the next, the host's seals,
 * Node without rights.
 * @param task the arguments of the child
 */
export function composeCommand(
  seals: ReadonlySet<HostSeal>,
  limits: SandboxLimits,
  task: readonly string[],
  limiter = findLimiter() ?? '/bin/sh',
): SealedCommand {
  const inner = [...wrap(seals), ...nodeCommand(limits), ...task];
  if (limiter.endsWith('/prlimit')) return { program: limiter, args: [...limitOptions(limits), '--', ...inner] };
  return { program: limiter, args: ['-c', `${shellLimits(limits)} exec "$@"`, 'sh', ...inner] };
}

/** Builds the command of a sandbox that serves runs. Descriptor 3 is the snapshot, if there is one. */
export function serveCommand(seals: ReadonlySet<HostSeal>, limits: SandboxLimits, hasSnapshot: boolean): SealedCommand {
  return composeCommand(seals, limits, ['serve', interpreterFolder, String(limits.outputBytesMax), hasSnapshot ? '3' : '-']);
}

/** Kernel limits. They apply even if this process can no longer watch. */
function kernelLimits({ timeoutMs, memoryMb }: SandboxLimits): {
  readonly cpuSeconds: number;
  readonly dataKb: number;
  readonly files: number;
} {
  return { cpuSeconds: startCpuSeconds + Math.ceil((cpuRuns * timeoutMs) / 1000), dataKb: (nodeMemoryMb + 2 * memoryMb) * 1024, files: 64 };
}

function limitOptions(limits: SandboxLimits): string[] {
  const { cpuSeconds, dataKb, files } = kernelLimits(limits);
  return [`--cpu=${cpuSeconds}`, '--core=0', '--fsize=0', `--nofile=${files}`, `--data=${dataKb * 1024}`];
}

function shellLimits(limits: SandboxLimits): string {
  const { cpuSeconds, dataKb, files } = kernelLimits(limits);
  // A limit that a system does not support (`-d` on macOS) must not prevent the others.
  return (
    [`-t ${cpuSeconds}`, '-c 0', '-f 0', `-n ${files}`].map((limit) => `ulimit ${limit} || exit 9;`).join(' ') +
    ` ulimit -d ${dataKb} 2>/dev/null;`
  );
}

function wrap(seals: ReadonlySet<HostSeal>): string[] {
  const root = process.getuid?.() === 0;
  const dying = ['--pdeathsig', 'KILL'];
  const setpriv = findProgram('setpriv') ?? 'setpriv';
  const bare = ['--no-new-privs', '--inh-caps=-all', ...(root ? ['--bounding-set=-all'] : [])];
  const nobody = seals.has('nobody') ? ['--reuid', '65534', '--regid', '65534', '--clear-groups'] : [];
  const unprivileged = seals.has('unprivileged') ? [setpriv, ...nobody, ...bare, ...dying] : [];
  const jail = jailCommand(seals, root);
  // The outer one makes the kernel end the jail with the gateway; the inner one ends the sandbox with the jail.
  return jail.length === 0 || unprivileged.length === 0 ? [...jail, ...unprivileged] : [setpriv, ...dying, ...jail, ...unprivileged];
}

function jailCommand(seals: ReadonlySet<HostSeal>, root: boolean): string[] {
  if (seals.has('bubblewrap')) return bubblewrapCommand();
  if (!seals.has('namespaces')) return [];
  const user = root ? [] : ['--user', '--map-current-user'];
  return [findProgram('unshare') ?? 'unshare', ...user, '--net', '--ipc', '--uts', '--pid', '--fork', '--kill-child=KILL'];
}

function bubblewrapCommand(): string[] {
  const libraries = ['/lib', '/lib64', '/usr/lib', '/usr/lib64', '/etc/ld.so.cache'].flatMap((path) => ['--ro-bind-try', path, path]);
  const programs = [process.execPath, findProgram('setpriv')].flatMap((path) => (path === undefined ? [] : ['--ro-bind', path, path]));
  const folders = readable().flatMap((path) => ['--ro-bind', path, path]);
  const rest = ['--proc', '/proc', '--dev', '/dev', '--unshare-all', '--die-with-parent', '--new-session', '--cap-drop', 'ALL'];
  return [findProgram('bwrap') ?? 'bwrap', ...rest, ...libraries, ...programs, ...folders];
}

/** The files that the process may read until Python is loaded. Afterwards it may read none. */
function readable(): string[] {
  return [fileURLToPath(interpreterFolder), fileURLToPath(childFolder)];
}

function nodeCommand({ memoryMb }: SandboxLimits): string[] {
  return [
    process.execPath,
    '--permission',
    ...readable().map((path) => `--allow-fs-read=${path}`),
    '--disallow-code-generation-from-strings',
    '--no-addons',
    // They bypass Node's permissions for files: code that escaped the interpreter could read the gateway's database.
    '--no-experimental-sqlite',
    '--no-webstorage',
    '--no-warnings',
    `--max-old-space-size=${Math.max(128, memoryMb)}`,
    // With the default V8 optimises so much of the interpreter that a short run takes twice as long. A long run still
    // gets the optimised code.
    '--wasm-tiering-budget=100000000',
    // In pages of 64 KiB. The interpreter's memory cannot exceed it.
    `--wasm-max-mem-pages=${memoryMb * 16}`,
    fileURLToPath(childScript),
  ];
}
