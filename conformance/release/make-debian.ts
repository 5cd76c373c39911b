import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

import { findPort } from '../deploy/start-proxy.ts';
import { minutesMs, run } from './try-release.ts';

/** A fresh Debian in a folder. */
export type Debian = {
  readonly root: string;
  readonly inside: (...command: readonly string[]) => Promise<string>;
  /**
   * Runs commands as an operator who answers yes and writes this `weir.yaml`, then waits until all programs are ready.
   */
  readonly follow: (commands: string, config: string) => Promise<string>;
};

/** Namespaces of processes and mounts: whatever the commands started ends with them. */
const enter = `set -eu
mount --rbind /dev "$1/dev"
mount -t proc proc "$1/proc"
exec chroot "$1" bash -ec "$2"
`;

/**
 * Stands in for a running systemd, which needs a machine of its own: the real one enables the units, and this starts
 * what they name, as their user and with their environment.
 */
const systemctl = `#!/bin/sh
set -eu
[ "$1 $2" = 'enable --now' ]
shift 2
/usr/bin/systemctl enable "$@"
for unit in "$@"; do
  file=/lib/systemd/system/$unit.service
  value() { sed -n "s/^$1=//p" "$file"; }
  install -d -o weir -g weir -m 0750 /var/cache/weir
  ( set -a
    eval "$(value Environment)"
    . "$(value EnvironmentFile | sed 's/^-//')"
    cd "$(value WorkingDirectory)"
    exec setsid setpriv --reuid "$(value User)" --regid "$(value Group)" --init-groups -- $(value ExecStart) \
      > "/tmp/$unit.log" 2>&1 < /dev/null ) &
done
`;

/** Afterwards each program must be ready within a minute. */
const healthy = `
for program in gateway monitor console; do
  for attempt in $(seq 60); do
    if weir health "$program"; then break; fi
    [ "$attempt" -lt 60 ] || { cat /tmp/weir*.log; exit 1; }
    sleep 1
  done
done
`;

/** The folder of the operator, in the Debian. */
const home = 'srv/operator';

/** An editor that replaces what it is given. It gets copies with names of their own. */
const editor = `#!/bin/sh
for file; do
  case "$file" in *.yaml) kind=yaml ;; *) kind=env ;; esac
  cp "/${home}/edited/weir.$kind" "$file"
done
`;

/** Unpacks a Debian that does not have the package yet. */
export async function makeDebian(root: string, debianPackage: string): Promise<Debian> {
  const words = [
    '--variant=minbase',
    '--include=sudo,systemd',
    '--skip=cleanup/apt/lists',
    '--aptopt=Acquire::Check-Valid-Until "false"',
    'stable',
    root,
  ];
  await run('mmdebstrap', words, { timeout: 10 * minutesMs });
  return openDebian(root, debianPackage);
}

function openDebian(root: string, debianPackage: string): Debian {
  const write = (path: string, text: string, mode: number): void => writeFileSync(join(root, path), text, { mode });
  write('etc/apt/apt.conf.d/90test', 'APT::Get::Assume-Yes "true";\nAcquire::Check-Valid-Until "false";\n', 0o644);
  write('usr/local/sbin/systemctl', systemctl, 0o755);
  const inside = async (...command: readonly string[]): Promise<string> => (await run('chroot', [root, ...command])).stdout;
  return {
    root,
    inside,
    follow: async (commands, config) => {
      mkdirSync(join(root, home, 'edited'), { recursive: true });
      copyFileSync(debianPackage, join(root, home, basename(debianPackage)));
      const ports = [await findPort(), await findPort(), await findPort()];
      const variables = ['WEIR_PORT', 'WEIR_MONITOR_PORT', 'WEIR_CONSOLE_PORT'].map((name, place) => `${name}=${ports[place]}\n`);
      write(`${home}/edited/weir.yaml`, config, 0o644);
      write(`${home}/edited/weir.env`, `A_VENDOR_KEY=sk-of-the-vendor\n${variables.join('')}`, 0o644);
      write(`${home}/edit`, editor, 0o755);
      const shell = `HOME=/${home} SUDO_EDITOR=/${home}/edit DEBIAN_FRONTEND=noninteractive PATH=/usr/sbin:/usr/bin:/sbin:/bin`;
      const script = `export ${shell}\ncd /${home}\n${commands}${healthy}`;
      const options = ['--mount', '--pid', '--fork', '--kill-child', 'sh', '-c', enter, 'sh', root, script];
      const { stdout } = await run('unshare', options, { timeout: 10 * minutesMs, maxBuffer: 1 << 24 });
      return stdout;
    },
  };
}
