import { bodyPace, serverSettings } from '../src/gateway/server/client-pace.ts';
import { defaultLimits, defaultTimeouts, type GatewayTimeouts } from '../src/gateway/settings/limits.ts';

const seconds = (ms: number): string => `${ms / 1000} s`;
const kibibytes = (bytes: number): string => `${bytes / 1024} KiB`;

const configured = (name: keyof GatewayTimeouts): readonly [string, string] => [seconds(defaultTimeouts[name]), `\`timeouts.${name}\``];

/** Every wait of the gateway: what for, how long, which setting changes it, and what happens then. */
function listWaits(): readonly (readonly [wait: string, limit: string, setting: string, then: string])[] {
  return [
    [
      'the head of a request',
      seconds(serverSettings.headersTimeout),
      '',
      '408, and the connection closes; without an answer if nothing was ever sent on it. Checked every two seconds.',
    ],
    [
      'the body of a request',
      `${kibibytes(bodyPace.bytesMin)} in each ${seconds(bodyPace.windowMs)}, and ${seconds(bodyPace.totalMs)} for all of it`,
      '',
      '408 `request_timeout` in the interface of the client, and the connection closes',
    ],
    ['the next request on an idle connection', seconds(serverSettings.keepAliveTimeout), '', 'the connection closes'],
    [
      'a client that has disappeared silently',
      seconds(serverSettings.keepAliveInitialDelay),
      '',
      'the system probes the connection, and closes it if there is no answer',
    ],
    ['a connection to an upstream', ...configured('connectMs'), '503 `upstream_unreachable`; nothing is charged'],
    ["an upstream's status line", ...configured('firstByteMs'), '504 `upstream_timeout`'],
    ['more of a reply', ...configured('idleMs'), '504, or the error event of the interface if the stream has begun'],
    ['the whole call', ...configured('totalMs'), 'the same'],
    ['silence in a stream to the client', ...configured('heartbeatMs'), 'a heartbeat is sent'],
    [
      'a client that does not read',
      ...configured('stalledReaderMs'),
      'the upstream is stopped, the call is settled as `client-left`, and the connection closes',
    ],
  ];
}

/** The text of docs/guide/timeouts.md. @param note says where it comes from */
export function writeTimeoutsPage(note: string): string {
  const rows = listWaits().map((cells) => `| ${cells.map((cell) => cell || ' ').join(' | ')} |`);
  return `${note}

# Set time-outs

Every wait of the gateway has a limit. Set those of a call in \`weir.yaml\`, for all calls or for a
[model or target](routing.md#set-time-limits-for-a-model):

\`\`\`yaml
timeouts: { firstByteMs: 300000, totalMs: 1800000 }
\`\`\`

| Waiting for | At most | Setting | What happens then |
|---|---|---|---|
${rows.join('\n')}

- Limits of a call are checked ten times a second, limits of a body once a second; they may be late by that.
- A slow reader is served: its time begins again whenever it takes something.
- If a client does not read, its stream stops at the upstream. The gateway keeps a few hundred kilobytes; the rest waits
  in the buffers of both systems. A translated stream also keeps its text, because the interfaces repeat it at the end.
- At most ${defaultLimits.connectionsMax} client connections are open at a time (\`limits.connectionsMax\`); more are
  closed at once. Each needs a file descriptor, and a running call needs a second one.
- A request of more than 256 KiB is read in steps of a few milliseconds, so that others are served in between
  ([why](../decisions/2026-11-21-large-bodies-in-steps.md)).
`;
}
