import assert from 'node:assert/strict';
import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import { type RunningSimulator, startSimulator } from 'weir-simulator';

import { apiKey, hasProgram, minutesMs, readInstallGuide, run, type Served, serveRelease, signal } from './try-release.ts';

// It unpacks a Debian and compresses 180 MB: WEIR_LONG=1 runs it.

const repository = join(import.meta.dirname, '../..');
const bytesMax = 200_000_000;
const [base, image] = ['localhost/debian', 'localhost/weir'];

/** Runs a program as container runtimes do: another root that cannot be written, the user of the image, no rights. */
const enter = `set -eu
root=$1; shift
mkdir -p "$root/proc" "$root/dev"
chown -R 65532:65532 .
mount --bind "$root" "$root"
mount -o remount,bind,ro "$root"
mount --bind . "$root/var/lib/weir"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
mount --rbind /dev "$root/dev"
mount --rbind /proc "$root/proc"
exec setpriv --no-new-privs chroot --userspec=65532:65532 "$root" "$@"
`;

/**
 * Stands in for Docker, which needs a daemon: buildah builds, and the options of `run` become mounts of `enter`. Ports
 * are free ones, and nothing of this environment reaches the container.
 */
const docker = `docker() {
  local command=$1; shift
  if [ "$command" = build ]; then buildah $STORAGE build --quiet --isolation=chroot --format=docker --pull=never --build-arg="BASE=$BASE" "$@"; return; fi
  [ "$command" = run ]
  while [ $# -gt 1 ]; do
    case "$1" in --rm | --read-only) ;; --tmpfs | -v | -p) shift ;; *) echo "docker run $1 has no stand-in" >&2; return 2 ;; esac
    shift
  done
  local root words variables
  root=$(buildah $STORAGE mount "$(buildah $STORAGE from --pull=never "localhost/$1")")
  words=$(buildah $STORAGE inspect --type image --format '{{range .OCIv1.Config.Entrypoint}}{{.}} {{end}}{{range .OCIv1.Config.Cmd}}{{.}} {{end}}' "localhost/$1")
  variables=$(buildah $STORAGE inspect --type image --format '{{range .OCIv1.Config.Env}}{{.}} {{end}}' "localhost/$1")
  mkdir volume; cd volume
  exec env -i $variables WEIR_PORT=0 WEIR_MONITOR_PORT=0 WEIR_CONSOLE_PORT=0 /usr/bin/unshare --mount /bin/sh "$ENTER" "$root" $words
}`;

function whyNot(): string | false {
  if (process.env['WEIR_LONG'] !== '1') return 'it takes minutes: set WEIR_LONG=1';
  if (process.platform !== 'linux' || process.arch !== 'x64') return 'the image is built and run on Linux (x64)';
  const missing = ['buildah', 'mmdebstrap', 'unshare', 'setpriv', 'chroot'].filter((name) => !hasProgram(name));
  if (missing.length > 0) return `not installed: ${missing.join(', ')}`;
  return process.getuid?.() !== 0 && 'only root can unpack a Debian with all its users';
}

describe('the image of the Containerfile', { timeout: 30 * minutesMs, skip: whyNot() }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-image-'));
  // Neither the images nor the settings of this machine.
  const storage = ['--root', join(folder, 'storage'), '--runroot', join(folder, 'run'), '--storage-driver', 'vfs'];
  const buildah = async (...words: readonly string[]): Promise<string> =>
    (await run('buildah', [...storage, ...words], { timeout: 15 * minutesMs, maxBuffer: 1 << 26 })).stdout.trim();
  let simulator: RunningSimulator;
  let container = '';
  let root = '';
  let started: Served | undefined;
  let served: Served | undefined;

  /** The command of a program in the image; its folder of data is the working directory. */
  const inside = (...command: readonly string[]): [string, ...string[]] => [
    'unshare',
    '--mount',
    'sh',
    join(folder, 'enter.sh'),
    root,
    ...command,
  ];

  before(async () => {
    simulator = await startSimulator();
    writeFileSync(join(folder, 'enter.sh'), enter);
    const archive = join(folder, 'base.tar');
    await run('mmdebstrap', ['--variant=minbase', 'bookworm', archive], { timeout: 10 * minutesMs });
    const empty = await buildah('from', 'scratch');
    await buildah('add', '--quiet', empty, archive, '/');
    await buildah('commit', '--quiet', empty, base);
    rmSync(archive);
    const checkout = join(folder, 'checkout');
    await run('git', ['clone', '--quiet', repository, checkout]);
    // What `npm ci` makes.
    symlinkSync(join(repository, 'node_modules'), join(checkout, 'node_modules'));
    cpSync(join(repository, 'console/dist'), join(checkout, 'console/dist'), { recursive: true });
    const commands = `${docker}\n${readInstallGuide('As a container')}`;
    const variables = { PATH: process.env['PATH'] ?? '', STORAGE: storage.join(' '), ENTER: join(folder, 'enter.sh'), BASE: base };
    started = await serveRelease(['bash', '-ec', commands], { folder, simulator, cwd: checkout }, variables);
    container = await buildah('from', '--pull=never', image);
    root = await buildah('mount', container);
  });
  after(async () => {
    for (const one of [started, served]) if (one !== undefined) signal(one, 'SIGKILL');
    if (root !== '') await buildah('umount', '--all');
    await simulator.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test('install.md: its commands build the image and run it, until somebody ends them', async () => {
    assert.ok(started);
    assert.equal((await fetch(`${started.gateway}/health/ready`)).status, 200);
    assert.equal((await fetch(`${started.console}/health/ready`)).status, 200);
    // As Ctrl-C does.
    signal(started, 'SIGINT');
    assert.deepEqual(await once(started.child, 'exit'), [0, null]);
  });

  test('it has less than 200 MB, no shell and no package manager, and says how it is run and checked', async (context) => {
    const { stdout } = await run('du', ['--summarize', '--bytes', root]);
    const bytes = Number.parseInt(stdout, 10);
    context.diagnostic(`${Math.round(bytes / 1e6)} MB`);
    assert.ok(bytes < bytesMax, `${bytes} bytes`);
    const unwanted = ['sh', 'bash', 'dash', 'busybox', 'apt', 'apt-get', 'dpkg', 'npm', 'perl'].flatMap((name) => ['-o', '-name', name]);
    assert.equal((await run('find', [root, '(', ...unwanted.slice(1), ')', '-not', '-type', 'd'])).stdout, '');
    const { Docker } = JSON.parse(await buildah('inspect', '--type', 'image', image));
    const { User, Entrypoint, Cmd, StopSignal, Healthcheck, Volumes } = Docker.config;
    assert.deepEqual([User, Entrypoint, Cmd, StopSignal], ['65532:65532', ['/usr/bin/weir'], ['start'], 'SIGTERM']);
    assert.deepEqual(Healthcheck.Test, ['CMD', '/usr/bin/weir', 'health', '--live']);
    assert.deepEqual(Object.keys(Volumes), ['/var/lib/weir']);
  });

  test('its entry point runs in a container of its own', async () => {
    const printed = await buildah('run', '--isolation=chroot', container, '--', '/usr/bin/weir', '--version');
    assert.match(printed, /^\d+\.\d+\.\d+ \([0-9a-f]{10}(?:-changed)?\)$/);
  });

  test('as its user on a root that cannot be written, it serves calls, is healthy, and ends when told', async () => {
    const inData = { WEIR_DATA_DIR: '/var/lib/weir/weir', WEIR_CONFIG: '/var/lib/weir/weir.yaml' };
    served = await serveRelease(
      inside('/usr/bin/weir', 'start'),
      { folder, simulator },
      { ...inData, NODE_COMPILE_CACHE: '/tmp/compiled' },
    );
    const { gateway, child } = served;
    const reply = await fetch(`${gateway}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'chat', messages: [{ role: 'user', content: 'hello' }] }),
    });
    assert.equal(reply.status, 200, await reply.text());
    const elsewhere = mkdtempSync(join(folder, 'elsewhere-'));
    const [program, ...health] = inside('/usr/bin/weir', 'health', '--live');
    const { stdout } = await run(program, health, { cwd: elsewhere, env: { ...process.env, WEIR_PORT: new URL(gateway).port } });
    assert.equal(stdout, `the gateway at ${gateway} runs\n`);
    const attempt = `const { writeFileSync } = require('node:fs');
      for (const path of ['/usr/lib/weir/start.js', '/etc/passwd', '/new', '/var/lib/weir/new', '/tmp/new'])
        try { writeFileSync(path, ''); console.log(path, 'written'); } catch ({ code }) { console.log(path, code); }
      console.log(process.getuid(), process.getgid());`;
    const [node, ...words] = inside('/usr/bin/node', '-e', attempt);
    const { stdout: tried } = await run(node, words, { cwd: elsewhere });
    assert.deepEqual(tried.trim().split('\n'), [
      '/usr/lib/weir/start.js EROFS',
      '/etc/passwd EROFS',
      '/new EROFS',
      '/var/lib/weir/new written',
      '/tmp/new written',
      '65532 65532',
    ]);
    child.kill('SIGTERM');
    assert.deepEqual(await once(child, 'exit'), [0, null]);
  });
});
