/** Which folder of src/gateway may import which, as ARCHITECTURE.md draws it. A folder may always import itself. */
export const gatewayLayers: Readonly<Record<string, readonly string[]>> = {
  settings: [],
  replies: ['settings'],
  telemetry: ['settings', 'replies'],
  admission: ['settings', 'replies', 'telemetry'],
  attempts: ['settings', 'replies', 'telemetry', 'admission'],
  endpoints: ['settings', 'replies', 'telemetry', 'admission', 'attempts'],
  server: ['settings', 'replies', 'telemetry', 'admission', 'attempts', 'endpoints'],
};
