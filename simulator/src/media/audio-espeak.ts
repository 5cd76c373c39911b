import { spawn } from 'node:child_process';
import { fromBytes, resample, sampleRate, stretch } from './audio-pcm.ts';

/** The sound of a voice: one of the synthesizer's variants and a pitch from 0 to 99. */
export type EspeakVoice = { readonly variant: string; readonly pitch: number };

const wordsPerMinute = 165;
const slowestWords = 80;
const fastestWords = 450;
const timeLimitMs = 30_000;
const bytesMax = 268_435_456;

let isInstalled: Promise<boolean> | undefined;

/** Whether espeak-ng can be run on this machine; checked once. */
export function hasEspeak(): Promise<boolean> {
  isInstalled ??= run(['--version'], '').then(
    () => true,
    () => false,
  );
  return isInstalled;
}

/**
 * Speaks a text with espeak-ng, at the simulator's rate. The text goes through its standard input, never through a
 * shell or an argument. Speeds beyond its range are reached by stretching. Rejects if it fails or takes longer than 30
 * seconds.
 */
export async function speakWithEspeak(text: string, language: string, voice: EspeakVoice, speed: number): Promise<Int16Array> {
  const wanted = wordsPerMinute * speed;
  const words = Math.round(Math.min(fastestWords, Math.max(slowestWords, wanted)));
  const wave = await run(
    ['--stdin', '--stdout', '-b', '1', '-v', `${language}+${voice.variant}`, '-s', `${words}`, '-p', `${voice.pitch}`],
    text,
  );
  // Its header has 44 bytes and no length, because it writes to a pipe.
  const rate = wave.readUInt32LE(24);
  return stretch(resample(fromBytes(wave.subarray(44)), rate, sampleRate), words / wanted);
}

function run(parameters: readonly string[], input: string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const child = spawn('espeak-ng', parameters, {
      stdio: ['pipe', 'pipe', 'ignore'],
      timeout: timeLimitMs,
      killSignal: 'SIGKILL',
      // It needs PATH, and no other variable of the environment.
      env: { PATH: process.env['PATH'] },
    });
    const chunks: Buffer[] = [];
    let bytes = 0;
    child.stdout.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > bytesMax) child.kill('SIGKILL');
      else chunks.push(chunk);
    });
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0 && bytes <= bytesMax) resolve(Buffer.concat(chunks));
      else reject(new Error(`espeak-ng ended with ${code ?? 'a signal'} after ${bytes} bytes`));
    });
    // It may end before it has read everything; its exit status shows failures.
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
  });
}
