/** Which folder of src/gateway may import which, as ARCHITECTURE.md draws it. A folder may always import itself. */
export const gatewayLayers: Readonly<Record<string, readonly string[]>> = {
  settings: [],
  replies: ['settings'],
  telemetry: ['settings', 'replies'],
  recording: ['settings', 'replies', 'telemetry'],
  admission: ['settings', 'replies', 'telemetry', 'recording'],
  attempts: ['settings', 'replies', 'telemetry', 'recording', 'admission'],
  endpoints: ['settings', 'replies', 'telemetry', 'recording', 'admission', 'attempts'],
  server: ['settings', 'replies', 'telemetry', 'recording', 'admission', 'attempts', 'endpoints'],
};
