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

{{/* What every Pod has in common: it may do nothing on its node, and has no token of the cluster. */}}
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

{{/* What every container has in common. */}}
{{- define "scriptsmith.container" -}}
image: {{ include "scriptsmith.image" .root | quote }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
envFrom:
  - secretRef: {name: {{ .root.Values.secretName | quote }}}
  {{- if and .models .root.Values.modelSecretName }}
  - secretRef: {name: {{ .root.Values.modelSecretName | quote }}}
  {{- end }}
env:
  - {name: SCRIPTSMITH_PRODUCTION, value: "True"}
  - {name: SCRIPTSMITH_DEMO, value: "False"}
  - {name: SCRIPTSMITH_BIND, value: 0.0.0.0}
  - {name: SCRIPTSMITH_HOSTS, value: {{ printf "localhost,%s" (required "host: the name that people type" .root.Values.host) | quote }}}
  - {name: SCRIPTSMITH_ORIGINS, value: {{ printf "https://%s" .root.Values.host | quote }}}
  - {name: SCRIPTSMITH_ENDPOINTS, value: {{ .root.Values.endpoints | quote }}}
  - {name: SCRIPTSMITH_TRUSTED_PROXIES, value: {{ .root.Values.trustedProxies | quote }}}
  - {name: SCRIPTSMITH_FILES, value: {{ .root.Values.files.bucket | default (ternary "/files" "" (ne .root.Values.files.claimName "")) | quote }}}
  - {name: SCRIPTSMITH_FILES_ENDPOINT, value: {{ .root.Values.files.endpoint | quote }}}
  - {name: WEB_CONCURRENCY, value: {{ .root.Values.web.processes | quote }}}
  {{- range $name, $value := .root.Values.settings }}
  - {name: {{ $name }}, value: {{ $value | quote }}}
  {{- end }}
volumeMounts:
  - {name: data, mountPath: /data}
  - {name: tmp, mountPath: /tmp}
  {{- if .root.Values.files.claimName }}
  - {name: files, mountPath: /files}
  {{- end }}
{{- end -}}
