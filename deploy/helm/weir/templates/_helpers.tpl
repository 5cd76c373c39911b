{{- /* Labels that select the pods of a part. Call: (list $ "gateway") */ -}}
{{- define "weir.selector" -}}
app.kubernetes.io/name: weir
app.kubernetes.io/instance: {{ (index . 0).Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end }}

{{- define "weir.labels" -}}
{{ include "weir.selector" . }}
app.kubernetes.io/part-of: weir
app.kubernetes.io/version: {{ (index . 0).Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ (index . 0).Release.Service }}
helm.sh/chart: {{ printf "%s-%s" (index . 0).Chart.Name (index . 0).Chart.Version }}
{{- end }}

{{- define "weir.name" -}}
{{- if contains "weir" .Release.Name }}{{ .Release.Name | trunc 40 | trimSuffix "-" }}{{ else }}{{ printf "%s-weir" .Release.Name | trunc 40 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "weir.image" -}}
image: {{ printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
{{- end }}

{{- define "weir.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "weir.container" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
{{- end }}

{{- define "weir.environment" -}}
- { name: WEIR_HOST, value: 0.0.0.0 }
- { name: WEIR_CONFIG, value: /etc/weir/weir.yaml }
- { name: WEIR_DATA_DIR, value: /var/lib/weir }
- { name: WEIR_PROOF_KEY_FILE, value: /run/secrets/weir-shared/proof-key }
- { name: DATABASE_URL_FILE, value: /run/secrets/weir/database-url }
{{- end }}

{{- define "weir.mounts" -}}
- { name: config, mountPath: /etc/weir, readOnly: true }
- { name: secrets, mountPath: /run/secrets/weir, readOnly: true }
- { name: shared, mountPath: /run/secrets/weir-shared, readOnly: true }
- { name: data, mountPath: /var/lib/weir }
- { name: temporary, mountPath: /tmp }
{{- end }}

{{- define "weir.probes" -}}
startupProbe:
  httpGet: { path: /health/live, port: http }
  periodSeconds: 2
  failureThreshold: 60
livenessProbe:
  httpGet: { path: /health/live, port: http }
  periodSeconds: 10
  failureThreshold: 3
  timeoutSeconds: 5
{{- end }}

{{- /* The time for a gateway to stop: both times of its configuration, and 20 s for the books. */ -}}
{{- define "weir.graceSeconds" -}}
{{- $timeouts := .Values.config.timeouts | default dict -}}
{{- $delay := get $timeouts "drainDelayMs" -}}
{{- $drain := get $timeouts "drainMs" -}}
{{- $delayMs := ternary 5000 $delay (kindIs "string" $delay) -}}
{{- $drainMs := ternary 300000 $drain (kindIs "string" $drain) -}}
{{- add 20 (div (add (int $delayMs) (int $drainMs) 999) 1000) -}}
{{- end }}

{{- define "weir.internet" -}}
- ipBlock:
    cidr: 0.0.0.0/0
    except: [10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16, 169.254.0.0/16, 100.64.0.0/10]
{{- end }}
