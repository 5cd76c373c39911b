/** All audio inside the simulator: 24,000 samples per second, one channel, signed 16-bit. */
export const sampleRate = 24_000;

/** Silence before and after a speech, so that no player cuts into it. */
const edgeMs = 40;

export function msOfSamples(samples: number): number {
  return (samples * 1000) / sampleRate;
}

export function samplesOfMs(ms: number): number {
  return Math.round((ms * sampleRate) / 1000);
}

/** The samples as bytes, little end first. */
export function toBytes(samples: Int16Array): Buffer {
  const bytes = Buffer.alloc(samples.length * 2);
  for (let index = 0; index < samples.length; index++) bytes.writeInt16LE(samples[index] ?? 0, index * 2);
  return bytes;
}

/** Samples from bytes, little end first; an odd last byte is ignored. */
export function fromBytes(bytes: Buffer): Int16Array {
  const samples = new Int16Array(Math.floor(bytes.length / 2));
  for (let index = 0; index < samples.length; index++) samples[index] = bytes.readInt16LE(index * 2);
  return samples;
}

/** The same audio at another rate, by linear interpolation. */
export function resample(samples: Int16Array, fromRate: number, toRate: number): Int16Array {
  if (fromRate === toRate) return samples;
  const step = fromRate / toRate;
  const length = Math.floor(samples.length / step);
  const result = new Int16Array(length);
  for (let index = 0; index < length; index++) {
    const place = index * step;
    const left = Math.floor(place);
    const a = samples[left] ?? 0;
    const b = samples[left + 1] ?? a;
    result[index] = Math.round(a + (b - a) * (place - left));
  }
  return result;
}

const grainSamples = 960;
const grainWindow = Float32Array.from({ length: grainSamples }, (_, index) => Math.sin((Math.PI * (index + 0.5)) / grainSamples) ** 2);

/** The same audio `factor` times as long at the same pitch: overlapping grains of 40 ms at other distances. */
export function stretch(samples: Int16Array, factor: number): Int16Array {
  if (Math.abs(factor - 1) < 0.01 || samples.length < grainSamples) return samples;
  const length = Math.round(samples.length * factor);
  const sum = new Float32Array(length);
  const weight = new Float32Array(length);
  const hop = grainSamples / 4;
  for (let to = 0; to < length; to += hop) {
    const from = Math.round(to / factor);
    for (let index = 0; index < grainSamples && to + index < length; index++) {
      const window = grainWindow[index] ?? 0;
      sum[to + index] = (sum[to + index] ?? 0) + window * (samples[from + index] ?? 0);
      weight[to + index] = (weight[to + index] ?? 0) + window;
    }
  }
  const result = new Int16Array(length);
  for (let index = 0; index < length; index++) result[index] = Math.round((sum[index] ?? 0) / Math.max(weight[index] ?? 0, 1e-6));
  return result;
}

/** Scales the loudest sample to 60 % of full scale, and adds silence before and after. Silence stays silence. */
export function finish(samples: Int16Array): Int16Array {
  let peak = 0;
  for (const sample of samples) peak = Math.max(peak, Math.abs(sample));
  const gain = peak === 0 ? 0 : (0.6 * 32_767) / peak;
  const edge = samplesOfMs(edgeMs);
  const result = new Int16Array(samples.length + 2 * edge);
  for (let index = 0; index < samples.length; index++) result[edge + index] = Math.round((samples[index] ?? 0) * gain);
  return result;
}
