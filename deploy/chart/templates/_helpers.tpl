{{- define "scriptsmith.name" -}}
{{- printf "%s-scriptsmith" .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{- define "scriptsmith.selector" -}}
app.kubernetes.io/name: scriptsmith
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .part }}
{{- end -}}

{{- define "scriptsmith.labels" -}}
{{ include "scriptsmith.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end -}}

{{- define "scriptsmith.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}

{{/* Settings of all Pods. They have no privileges on the node and no service account token. */}}
{{- define "scriptsmith.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 999
  runAsGroup: 999
  fsGroup: 999
  seccompProfile: {type: RuntimeDefault}
{{- with .Values.image.pullSecrets }}
imagePullSecrets: {{ toJson . }}
{{- end }}
volumes:
  - name: data
    emptyDir: {}
  - name: tmp
    emptyDir: {}
{{- if .Values.files.claimName }}
  - name: files
    persistentVolumeClaim: {claimName: {{ .Values.files.claimName | quote }}}
{{- end }}
{{- end -}}

{{/* Environment variables of a container. The operator's settings override the chart's values.
Empty variables are left out, because they would override the same variable in a Secret. */}}
{{- define "scriptsmith.environment" -}}
{{- $values := .root.Values }}
{{- $told := dict "SCRIPTSMITH_PRODUCTION" "True" "SCRIPTSMITH_DEMO" "False" "SCRIPTSMITH_BIND" "0.0.0.0" }}
{{- $host := required "host: the name that people type" $values.host }}
{{- $_ := set $told "SCRIPTSMITH_HOSTS" (printf "localhost,%s" $host) }}
{{- $_ := set $told "SCRIPTSMITH_ORIGINS" (printf "https://%s" $host) }}
{{- $_ := set $told "WEB_CONCURRENCY" (toString $values.web.processes) }}
{{- $files := $values.files.bucket | default (ternary "/files" "" (ne $values.files.claimName "")) }}
{{- $optional := dict "SCRIPTSMITH_ENDPOINTS" $values.endpoints "SCRIPTSMITH_TRUSTED_PROXIES" $values.trustedProxies }}
{{- $_ := set $optional "SCRIPTSMITH_FILES" $files }}
{{- $_ := set $optional "SCRIPTSMITH_FILES_ENDPOINT" $values.files.endpoint }}
{{- if and .counts $values.workerMetrics.enabled }}
{{- $_ := set $optional "SCRIPTSMITH_WORKER_METRICS" (printf "0.0.0.0:%d" (int $values.workerMetrics.port)) }}
{{- end }}
{{- range $name, $value := $optional }}
{{- if $value }}{{ $_ := set $told $name $value }}{{ end }}
{{- end }}
{{- range $name, $value := $values.settings }}
{{- $_ := set $told $name (toString $value) }}
{{- end }}
{{- toYaml $told }}
{{- end -}}

{{/* Workers serve their own metrics, because web servers can't access them (see Metrics in docs/operation.md). */}}
{{- define "scriptsmith.scraped" -}}
{{- if .Values.workerMetrics.enabled -}}
annotations:
  prometheus.io/scrape: "true"
  prometheus.io/path: /metrics
  prometheus.io/port: {{ .Values.workerMetrics.port | quote }}
{{- end }}
{{- end -}}

{{- define "scriptsmith.metricsPort" -}}
{{- if .Values.workerMetrics.enabled -}}
ports:
  - {name: metrics, containerPort: {{ .Values.workerMetrics.port }}}
{{- end }}
{{- end -}}

{{/* Startup and liveness probes. `part` is "scheduler", "runner" or, for a worker, empty. */}}
{{- define "scriptsmith.alive" -}}
{{- $check := list "python" "-I" "scriptsmith_site/embedded/worker_healthcheck.py" }}
{{- if .part }}{{ $check = append $check .part }}{{ end -}}
startupProbe:
  exec: {command: {{ toJson $check }}}
  periodSeconds: 5
  failureThreshold: 30
  timeoutSeconds: 6
livenessProbe:
  exec: {command: {{ toJson $check }}}
  periodSeconds: 15
  failureThreshold: 4
  timeoutSeconds: 6
{{- end -}}

{{/* Settings of all containers. */}}
{{- define "scriptsmith.container" -}}
image: {{ include "scriptsmith.image" .root | quote }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
envFrom:
  - secretRef: {name: {{ .root.Values.secretName | quote }}}
  {{- if and (not .apart) .root.Values.doorsSecretName }}
  - secretRef: {name: {{ .root.Values.doorsSecretName | quote }}}
  {{- end }}
  {{- if and .models .root.Values.modelSecretName }}
  - secretRef: {name: {{ .root.Values.modelSecretName | quote }}}
  {{- end }}
env:
  {{- range $name, $value := include "scriptsmith.environment" . | fromYaml }}
  - {name: {{ $name }}, value: {{ $value | quote }}}
  {{- end }}
volumeMounts:
  - {name: data, mountPath: /data}
  - {name: tmp, mountPath: /tmp}
  {{- if .root.Values.files.claimName }}
  - {name: files, mountPath: /files}
  {{- end }}
{{- end -}}
