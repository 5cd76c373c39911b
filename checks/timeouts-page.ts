import { bodyPace, serverSettings } from '../src/gateway/server/client-pace.ts';
import { defaultLimits, defaultTimeouts, type GatewayTimeouts } from '../src/gateway/settings/limits.ts';

const seconds = (ms: number): string => `${ms / 1000} s`;
const kibibytes = (bytes: number): string => `${bytes / 1024} KiB`;

const configured = (name: keyof GatewayTimeouts): readonly [string, string] => [seconds(defaultTimeouts[name]), `\`timeouts.${name}\``];

/** Every wait of the gateway: what for, how long, what changes it, and what happens then. */
function listWaits(): readonly (readonly [wait: string, limit: string, setting: string, then: string])[] {
  return [
    [
      'the head of a request',
      seconds(serverSettings.headersTimeout),
      '',
      '408, and the connection ends; without a word where nothing was ever sent on it. Looked at every two seconds',
    ],
    [
      'the body of a request',
      `${kibibytes(bodyPace.bytesMin)} in each ${seconds(bodyPace.windowMs)}, and ${seconds(bodyPace.totalMs)} for all of it`,
      '',
      '408 `request_timeout` in the words of the interface, and the connection ends',
    ],
    ['the next request on an idle connection', seconds(serverSettings.keepAliveTimeout), '', 'the connection is closed'],
    [
      'a sign of life from a client that has gone without a word',
      seconds(serverSettings.keepAliveInitialDelay),
      '',
      'the system probes it, and closes the connection without an answer',
    ],
    ['a connection to an upstream', ...configured('connectMs'), '503 `upstream_unreachable`; nothing is charged'],
    ["an upstream's status line", ...configured('firstByteMs'), '504 `upstream_timeout`'],
    ['more of a reply', ...configured('idleMs'), '504, or the error event of the interface in a stream that has begun'],
    ['the whole call', ...configured('totalMs'), 'the same'],
    ['a sign of life for the client of a silent stream', ...configured('heartbeatMs'), 'a heartbeat is sent'],
    [
      'a client that does not read',
      ...configured('stalledReaderMs'),
      'the upstream is stopped, the call is settled as `client-left`, the connection ends',
    ],
  ];
}

/** The text of docs/guide/timeouts.md. @param note says where it comes from */
export function writeTimeoutsPage(note: string): string {
  const rows = listWaits().map((cells) => `| ${cells.map((cell) => cell || ' ').join(' | ')} |`);
  return `${note}

# Waits and their limits

Nothing in the gateway waits without end.

| Waiting for | At most | Setting | What happens then |
|---|---|---|---|
${rows.join('\n')}

- A limit of a call is looked at ten times a second, one of a body once a second: it may be late by that.
- The time of a stalled reader begins anew whenever the client takes something: a slow reader is served, one that does not read is not.
- A stream is held back at its upstream while its client does not read: the gateway keeps a few hundred kilobytes of it, the rest waits in the buffers of the two
  systems. A translated stream keeps the text that it has passed on as well, because the interfaces repeat it at the end.
- At most ${defaultLimits.connectionsMax} connections of clients are held at a time (\`limits.connectionsMax\`); more are closed as they come. Each needs a file descriptor,
  and a call under way a second one.
- A request of more than 256 KiB is read in steps of a few milliseconds, between which others are served. See
  [the decision](../decisions/2026-11-21-large-bodies-in-steps.md).
`;
}
