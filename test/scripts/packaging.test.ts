import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { parse, parseAllDocuments } from 'yaml'
import manifest from '../../package.json' with { type: 'json' }
import { longestDrainDelay } from '../../plugins/config/config.ts'
import { root } from '../e2e/support/process.ts'
import { composeFaults, kubernetesFaults, type Manifest } from '../support/manifests.ts'
import { contains, has } from '../support/matching.ts'

const folder = join(root, 'scripts/packaging')
const textOf = (file: string): string => readFileSync(join(folder, file), 'utf8')

const page = readFileSync(join(root, 'plugins/guides/operator.md'), 'utf8')
const variables = new Set([...page.matchAll(/^\| `([A-Z_0-9]+)`/gm)].map(([, name]) => name))
const files = ['Containerfile', 'compose.yaml', 'kubernetes/dispatch.yaml', 'systemd/document-dispatch.service',
  'systemd/document-dispatch-worker.service']

for (const file of files) {
  await t.test(`${file} sets variables that the service reads`, (t) => {
    const named = [...textOf(file).matchAll(/\b(DISPATCH_[A-Z_0-9]+|DATABASE_[A-Z]*URL)\b/g)].map(([, name]) => name)
    t.ok(named.length > 0)
    t.same(named.filter((name) => !variables.has(name)), [])
    t.end()
  })
}

for (const file of ['compose.yaml', 'kubernetes/dispatch.yaml']) {
  await t.test(`${file} is YAML that says each thing once`, (t) => {
    const documents = parseAllDocuments(textOf(file), { merge: true, strict: true })
    t.same([...documents].flatMap((document) => 'errors' in document ? document.errors.map(String) : []), [])
    t.end()
  })
}

await t.test('Kubernetes knows every field of the manifests', async (t) => {
  const faults = (text: string): Promise<string[]> =>
    kubernetesFaults([...parseAllDocuments(text)].map((document) => (document as any).toJS() as Manifest))
  const text = textOf('kubernetes/dispatch.yaml')
  t.same(await faults(text), [])

  const wrong = [
    ['readOnlyRootFilesystem: true', 'readonlyRootFilesystem: true',
      `'"readonlyRootFilesystem"' does not exist in type 'ISecurityContext'`],
    ['serviceName: dispatch', 'serviceName: 7', `Type 'number' is not assignable to type 'string'`],
    ['policyTypes: [Ingress]', 'policyTypes: [ingress]', `Type '"ingress"' is not assignable to type '"Egress" | "Ingress"'`],
    ['ports: [{ name: http, port: 80,', 'ports: [{ name: http,', `Property '"port"' is missing`],
    ['replicas: 2', 'replicas: 2.5', 'StatefulSet: data/spec/replicas must be integer'],
    ['storage: 5Gi', 'storage: 5 GB', 'requests/storage must match format "quantity"'],
    ['kind: PodDisruptionBudget', 'kind: PodDisruptionBudgets', 'policy/v1 has no PodDisruptionBudgets']
  ] as const
  for (const [right] of wrong) t.ok(text.includes(right), right)
  const found = (await faults(wrong.reduce((changed, [right, change]) => changed.replace(right, change), text))).join('\n')
  for (const [, , fault] of wrong) contains(t, found, fault)
})

await t.test('Compose knows every field of its file', (t) => {
  const faults = (text: string): string[] => composeFaults(parse(text, { merge: true }))
  const text = textOf('compose.yaml')
  t.same(faults(text), [])
  contains(t, faults(text.replace('cap_drop:', 'cap_drops:')).join('\n'), '/services/api must NOT have additional properties')
  contains(t, faults(text.replace('service_healthy', 'healthy')).join('\n'), 'condition must be equal to one of the allowed values')
  t.end()
})

/** Seconds that a process takes at most after its drain delay: for dispatches whose clients wait, and the recording of their outcomes. */
const work = 180

await t.test('every process is given the time of the longest drain delay and of its work', (t) => {
  const told = {
    'compose.yaml': /^ {2}stop_grace_period: (\d+)s$/gm,
    'kubernetes/dispatch.yaml': /terminationGracePeriodSeconds: (\d+)$/gm,
    'systemd/document-dispatch.service': /^TimeoutStopSec=(\d+)$/gm,
    'systemd/document-dispatch-worker.service': /^TimeoutStopSec=(\d+)$/gm
  }
  for (const [file, pattern] of Object.entries(told)) {
    const periods = [...textOf(file).matchAll(pattern)].map(([, seconds]) => Number(seconds))
    t.ok(periods.length > 0, file)
    for (const period of periods) t.equal(period, longestDrainDelay + work, file)
  }
  t.end()
})

await t.test('the manifests bind ports, volumes and labels that are there', (t) => {
  const documents = [...parseAllDocuments(textOf('kubernetes/dispatch.yaml'))].map((document) => (document as any).toJS())
  const sets = documents.filter(({ kind }) => kind === 'StatefulSet')
  t.same(sets.map(({ metadata }) => metadata.name), ['dispatch-api', 'dispatch-worker'])
  for (const { spec } of sets) {
    const { containers: [container], volumes } = spec.template.spec
    const there = [...volumes, ...spec.volumeClaimTemplates.map(({ metadata }: any) => metadata)].map(({ name }: any) => name).sort()
    t.same(container.volumeMounts.map(({ name }: any) => name).sort(), there)
    t.same(spec.selector.matchLabels, spec.template.metadata.labels)
    const ports = container.ports.map(({ name }: any) => name)
    for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe']) {
      if (container[probe] !== undefined) t.ok(ports.includes(container[probe].httpGet.port), probe)
    }
    t.ok(existsSync(join(root, container.args?.[0] ?? 'scripts/serve.ts')))
  }
  t.end()
})

await t.test('nobody but the scraper reaches the metrics, and no network of pods may claim the address of a client', (t) => {
  const documents = [...parseAllDocuments(textOf('kubernetes/dispatch.yaml'))].map((document) => (document as any).toJS())
  const of = (kind: string): any[] => documents.filter((document) => document.kind === kind)
  const [{ spec: policy }] = of('NetworkPolicy')
  const pods = [...of('StatefulSet'), ...of('Job')].map(({ spec }) => spec.template)
  for (const { metadata } of pods) has(t, metadata.labels, policy.podSelector.matchLabels)
  t.same(policy.policyTypes, ['Ingress'])
  t.same(policy.ingress.map(({ ports }: any) => ports.map(({ port }: any) => port)), [['http'], ['metrics']])
  for (const { from } of policy.ingress) for (const one of from) t.ok(one.namespaceSelector.matchLabels)
  const [{ data }] = of('ConfigMap')
  for (const network of data.DISPATCH_TRUSTED_PROXIES.split(',')) contains(t, network, /\/(32|128)$/)
  for (const { spec } of of('StatefulSet')) {
    t.same(spec.template.spec.topologySpreadConstraints.map(({ topologyKey }: any) => topologyKey), ['topology.kubernetes.io/zone',
      'kubernetes.io/hostname'])
    for (const { labelSelector } of spec.template.spec.topologySpreadConstraints) t.same(labelSelector, spec.selector)
  }
  const [{ metadata, spec: job }] = of('Job')
  t.same(job.template.spec.containers[0].args, ['scripts/dispatch.ts', 'migrate'])
  t.equal(metadata.name, `dispatch-migrate-${manifest.version.replaceAll('.', '-')}`)
  t.end()
})

const verifier = existsSync('/usr/bin/systemd-analyze') ? false : 'systemd-analyze is not installed'

await t.test('systemd understands the units', { skip: verifier }, (t) => {
  const place = mkdtempSync(join(tmpdir(), 'dispatch-units-'))
  t.teardown(() => {
    rmSync(place, { recursive: true })
  })
  const faults = (name: string, text: string): string[] => {
    writeFileSync(join(place, name), text)
    const { stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', join(place, name)], { encoding: 'utf8' })
    return stderr.split('\n').filter((line) => line.includes(name))
  }
  for (const name of readdirSync(join(folder, 'systemd'))) {
    // What the machine of this test lacks: the program and the folder.
    const text = textOf(`systemd/${name}`).replaceAll('/usr/bin/node', process.execPath).replaceAll('/opt/document-dispatch', root)
    t.same(faults(name, text), [])
    contains(t, faults(name, text.replace('WatchdogSec=', 'WatchdogSecs=')).join('\n'), 'WatchdogSecs')
  }
  t.end()
})
